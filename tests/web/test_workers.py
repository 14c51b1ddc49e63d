"""Several processes of one server: what one acknowledges all know, what one counts all count, and one may die."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest
from tests.processes import until
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.cli.workbench.serving import WORKER, Settings
from rushes.study import StudyPlan
from rushes.study.service import open_service
from rushes.web import processes
from rushes.web.http.counts import Counts, RequestCounts, SharedCounts
from rushes.web.processes import Processes, listeners

from .livesite import LONGEST_MS, PASSWORD, Client, filled, key_of, stretches
from .test_serve import Serving


class Pair:
    """Two workers, each on a port of its own, so that a test knows which of them answers."""

    def __init__(self, folder: Path) -> None:
        (folder / "counts").mkdir()
        settings = Settings(
            db=str(folder / "studies.db"),
            runs=(),
            suites=(),
            media="",
            host="127.0.0.1",
            port=0,
            public_url="",
            trusted_proxies=(),
            sso_header="",
            log="off",
            metrics=True,
            setup_key="key",
            workers=2,
            counts=str(folder / "counts"),
        )
        self.sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.urls = [f"http://127.0.0.1:{one.getsockname()[1]}" for one in self.sockets]
        self.processes = Processes(self.sockets, WORKER, asdict(settings))
        self.processes.start()

    def browser(self) -> tuple[Client, Client]:
        """One browser, as it is seen by each: cookies know no ports."""
        first, second = Client(self.urls[0]), Client(self.urls[1])
        second.cookies = first.cookies
        second._cookies = first._cookies
        return first, second


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, clip_table: Path) -> Iterator[tuple[Pair, list[str]]]:
    """Both workers on a study of three pairs, and raters' links."""
    folder = tmp_path_factory.mktemp("workers")
    with open_service(folder / "studies.db") as service:
        service.create_study(StudyPlan(name="bars", gold_every=0, repeat_every=0), training=False)
        service.import_csv("bars", clip_table)
        service.set_admin_password(PASSWORD)
        links = [f"/i/{one.token}" for one in service.invite("bars", count=2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        pair = Pair(folder)
        yield pair, links
        pair.processes.stop()


@pytest.fixture
def pair(started: tuple[Pair, list[str]]) -> Pair:
    return started[0]


@pytest.fixture
def links(started: tuple[Pair, list[str]]) -> list[str]:
    return started[1]


def test_a_raters_work_and_an_owners_go_on_in_whichever_process_answers(pair: Pair, links: list[str]) -> None:
    first, second = pair.browser()
    with first, second:
        assert first.send_form(links[0]).headers["location"] == "/rate"
        second.send_form("/rate/consent")
        task = first.get("/rate.json").json()
        for number, side in enumerate(("A", "B")):
            assert (first, second)[number].get(task["clips"][side]["address"]).status_code == 200
        time.sleep(2 * LONGEST_MS / 1000)  # credit runs by the server's clock
        watched = second.send_json("/rate/watch", {"assignment": task["assignment"], "events": stretches(task)})
        assert watched.json()["complete"], watched.text
        form = filled(task, key_of(first.get("/rate").text))
        assert second.send_quietly("/rate/vote", form).json()["accepted"]
        assert first.send_quietly("/rate/vote", form).json()["accepted"]  # sent again: the same vote
        assert first.get("/rate.json").json()["number"] == second.get("/rate.json").json()["number"] == 2
    owner, there = pair.browser()
    with owner, there:
        assert owner.send_form("/login", {"password": PASSWORD}).status_code == 303
        assert there.get("/studies/bars.json").json()["totals"]["votes"] == 1
        assert owner.send_form("/logout").status_code == 303
        assert there.get("/studies/bars.json").status_code == 401


def test_tries_count_in_all_processes_together(pair: Pair) -> None:
    answers = []
    for number in range(7):
        with Client(pair.urls[number % 2]) as client:
            answers.append(client.send_form("/login", {"password": "wrong", "username": "admin"}))
    assert [one.status_code for one in answers] == [401] * 5 + [429] * 2
    assert 290 <= int(answers[-1].headers["retry-after"]) <= 300


def test_a_killed_process_is_replaced_and_its_socket_waits(pair: Pair, links: list[str]) -> None:
    first, _ = pair.browser()
    with first:
        assert first.send_form(links[1]).status_code == 303
        ended = pair.processes._workers[0].process
        os.kill(ended.pid, signal.SIGKILL)
        ended.wait()
        with socket.create_connection(("127.0.0.1", pair.sockets[0].getsockname()[1])) as waiting:
            pair.processes.tend()
            waiting.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            assert waiting.recv(4096).startswith(b"HTTP/1.1 200")
        assert first.get("/rate.json").json()["stage"] == "consent"  # still signed in


def test_metrics_add_up_over_processes(pair: Pair) -> None:
    for url in [*pair.urls, pair.urls[0]]:
        httpx.get(f"{url}/i/a-secret-token")

    def total() -> list[str]:
        texts = [httpx.get(f"{url}/metrics").text for url in pair.urls]
        return [
            count
            for text in texts
            for count in re.findall(r'method="GET",route="/i/\{token\}",status="200"} (\d)', text)
        ]

    until(lambda: total() == ["3", "3"], "both processes know all requests")


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_command_starts_workers_that_end_with_it(tmp_path: Path, number: signal.Signals) -> None:
    serving = Serving(tmp_path, "--workers", "2")
    address, parent = serving.facts()["address"], serving.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children")
    workers = [int(one) for one in children.read_text().split()] if children.exists() else []
    assert httpx.get(f"{address}/readyz").text == "ready\n"
    serving.process.send_signal(number)
    assert serving.process.communicate(timeout=60)[1] == ""
    assert serving.process.returncode == (0 if number == signal.SIGTERM else -number)
    until(lambda: not any(alive(one) for one in workers), "the workers have ended")
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{address}/healthz")


def test_the_command_hands_its_workers_what_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[dict[str, object]] = []

    class Noted(Processes):
        def __init__(self, sockets: object, command: object, settings: dict[str, object]) -> None:
            handed.append(settings)
            super().__init__([], (), settings)

        def watch(self) -> None:
            pass

    monkeypatch.setattr(processes, "Processes", Noted)
    options = ("--workers", "3", "--media", str(tmp_path / "m"), "--metrics", "--trusted-proxy", "10.0.0.0/8")
    command = ["serve", "--db", str(tmp_path / "studies.db"), "--port", "0", "--json", *options]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    address, setup = json.loads(done.stdout).values()
    assert setup == f"{address}/setup?key={handed[0]['setup_key']}" and handed[0]["workers"] == 3
    given = json.loads(json.dumps(handed[0]))
    assert given["media"] == str(tmp_path / "m") and given["trusted_proxies"] == ["10.0.0.0/8"] and given["counts"]


def alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def test_sockets_share_a_port_that_nobody_else_has() -> None:
    shared = listeners("127.0.0.1", 0, 3)
    try:
        ports = {one.getsockname()[1] for one in shared}
        assert len(shared) == 3 and len(ports) == 1
        with pytest.raises(OSError, match="in use"):
            listeners("127.0.0.1", ports.pop(), 2)
    finally:
        for one in shared:
            one.close()


def test_counts_add_up_and_come_back_from_json() -> None:
    one, other, both = Counts(), Counts(), Counts()
    for counts, seconds in ((one, 0.004), (other, 0.3), (other, 20.0)):
        counts.add("GET", "/x", 200, seconds)
        both.add("GET", "/x", 200, seconds)
    one.join(Counts.from_lists(json.loads(json.dumps(other.as_lists()))))
    one.begun = both.begun = 1.0
    assert one.text() == both.text() and 'route="/x",status="200"} 3' in one.text()


def test_a_damaged_file_of_counts_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("{")
    assert SharedCounts(tmp_path).text().splitlines()[:-1] == RequestCounts().text().splitlines()[:-1]
