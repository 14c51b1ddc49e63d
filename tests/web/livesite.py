"""A live server on a small study, and clients that behave like a browser's requests."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from rushes.study import Accepted, PlayEvent, Task, VoteForm
from rushes.study.records import Choice, ScreenSide
from rushes.study.service import StudyService
from rushes.web.serving import server_config

SYSTEMS = ("Northwind-XL", "Southgate-Pro")
PASSWORD = "correct horse battery"


class Site:
    """An app on a real port, in a thread."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.clients: list[Client] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.server = uvicorn.Server(server_config(app, log_level="error"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True)
        self.thread.start()

    @property
    def service(self) -> StudyService:
        service: StudyService = self.app.state.workbench.service
        return service

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.server.should_exit = True
        self.thread.join(timeout=10)
        self.listener.close()

    def client(self) -> Client:
        """A new browser, closed with the site."""
        self.clients.append(Client(self.url))
        return self.clients[-1]


class Client(httpx.Client):
    """Sends the Origin and the CSRF token, as a page of the site does; keeps every byte it was given."""

    def __init__(self, url: str) -> None:
        # Plain HTTP: the certificates that `verify` reads take longer than most requests.
        super().__init__(base_url=url, headers={"origin": url, "accept": "text/html"}, timeout=120, verify=False)
        self.seen = bytearray()
        self.event_hooks = {"response": [self._keep]}

    def _keep(self, response: httpx.Response) -> None:
        response.read()
        self.seen += f"{response.url} {response.headers!r}".encode() + response.content

    def token(self) -> str:
        return str(self.get("/csrf.json").json()["csrf"])

    def send_form(self, path: str, data: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        return self.post(path, data={"csrf_token": self.token(), **(data or {})}, **more)

    def send_json(self, path: str, data: object) -> httpx.Response:
        headers = {"x-csrf-token": self.token(), "accept": "application/json"}
        return self.post(path, json=data, headers=headers)

    def send_quietly(self, path: str, data: dict[str, Any]) -> httpx.Response:
        """A form as the page's script sends it: wants JSON back."""
        return self.post(path, data=data, headers={"x-csrf-token": self.token(), "accept": "application/json"})


@dataclass
class Study:
    """A running site with one study in it."""

    site: Site
    name: str

    @property
    def service(self) -> StudyService:
        return self.site.service

    def invitation(self) -> str:
        """A fresh invitation's path."""
        return f"/i/{self.service.invite(self.name)[0].token}"

    def rater(self, *, stage: str = "work") -> Client:
        """A signed-in rater who has come as far as this stage; the quick way, past the pages."""
        token = self.service.accept_invite(self.service.invite(self.name)[0].token).token
        if stage in ("training", "work"):
            self.service.give_consent(token)
        if stage == "work":
            train(self, token)
        client = self.site.client()
        client.cookies.set("rushes_rater", token, domain="127.0.0.1")
        return client

    def admin(self) -> Client:
        if not self.service.admin_exists():
            self.service.set_admin_password(PASSWORD)
        client = self.site.client()
        assert client.send_form("/login", {"password": PASSWORD}).status_code == 303
        return client


def train(study: Study, session: str) -> None:
    """Answer the training pair, and answer it as the feedback says where that was wrong."""
    task = study.service.training_task(session)
    flicker = "Flicker / temporal jitter"
    answer = decide(study, session, task, "A", tag=flicker if flicker in task.tags else "")
    if answer.feedback is not None and not answer.feedback.right:
        decide(study, session, task, answer.feedback.expected, tag=answer.feedback.expected_tag or task.tags[0])
    assert study.service.session(session).stage == "work"


def decide(study: Study, session: str, task: Task, winner: Choice, *, tag: str = "") -> Accepted:
    """Load, watch and vote through the service."""
    study.service.load_clips(session, task)
    study.site.app.state.pass_time(2 * max(task.a.duration_ms, task.b.duration_ms))
    lengths: tuple[tuple[ScreenSide, int], ...] = (("A", task.a.duration_ms), ("B", task.b.duration_ms))
    plays = [
        PlayEvent(side=side, start_ms=0, end_ms=end, sequence=number)
        for number in range(task.watch.required)
        for side, end in lengths
    ]
    study.service.record_play(session, task.assignment, plays)
    form = VoteForm(
        winner=winner,
        primary_tag=tag or task.tags[0],
        ratings_a=dict.fromkeys(task.dimensions, 4),
        ratings_b=dict.fromkeys(task.dimensions, 2),
        note="seen twice",
    )
    key = f"{winner}-{task.assignment}"[:64] if task.training else f"pair-{task.assignment}"[:64]
    answer = study.service.submit_vote(session, task.assignment, form, key=key)
    assert isinstance(answer, Accepted), answer
    return answer


def vote_through(study: Study, client: Client, choose: Callable[[Task], Choice]) -> None:
    """Vote on every pair this rater gets."""
    session = client.cookies["rushes_rater"]
    while (task := study.service.next_task(session)) is not None:
        decide(study, session, task, choose(task))


def key_of(page: str) -> str:
    found = re.search(r'name="key" value="([^"]+)"', page)
    assert found
    return found[1]


def filled(task: dict[str, Any], key: str, *, winner: str = "A") -> dict[str, Any]:
    """A complete form for a task."""
    form = {
        "assignment": task["assignment"],
        "key": key,
        "winner": winner,
        "primary_tag": task["tag_groups"][0]["tags"][0],
        "secondary_tags": [task["tag_groups"][1]["tags"][0]],
        "note": "seen twice",
    }
    for dimension in task["dimensions"]:
        form[f"ratings_a.{dimension['key']}"] = "4"
        form[f"ratings_b.{dimension['key']}"] = "2"
    return form


LONGEST_MS = 2000
"""As long as the longest clip here, the training pair's; a page is not told a clip's length."""


def stretches(task: dict[str, Any], *, times: int = 2, first: int = 1) -> list[dict[str, Any]]:
    """Full plays of both clips."""
    return [
        {
            "side": side,
            "start_ms": 0,
            "end_ms": LONGEST_MS,
            "rate": 1.0,
            "visible": True,
            "client_ms": 0,
            "sequence": first + number,
        }
        for number in range(times)
        for side in ("A", "B")
    ]


def watch_all(client: Client, address: str, study: Study) -> dict[str, Any]:
    """Load both clips of the task at this address and report two full plays of each, with time passing on the server's
    clock."""
    task: dict[str, Any] = client.get(address).json()
    for clip in task["clips"].values():
        assert client.get(clip["address"]).status_code == 200
    study.site.app.state.pass_time(4 * LONGEST_MS)
    answer = client.send_json("/rate/watch", {"assignment": task["assignment"], "events": stretches(task)})
    assert answer.status_code == 200 and answer.json()["complete"], answer.text
    return task
