"""Killing `rushes serve` under a small load of votes, again and again: what was acknowledged is there, once.

Used by `soak_runs.py` (`make soak`) and, with a few kills, by the tests. Each rater works on a study of their own in
one database, so that what a study's store must hold follows from its own votes alone, whatever the others did; the
votes of all studies are written by the same server at the same time. A rater who gets no answer asks again, as the page
does. Afterwards the same votes go into a store that was never interrupted, and the exports of the two must be equal.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from rushes.media import write_clip
from rushes.study import Accepted, PlayEvent, StudyPlan, VoteForm, exchange
from rushes.study.database.tables import assignment, vote
from rushes.study.records import Choice
from rushes.study.service import StudyService, open_service

try:
    from load_study import Browser, Gone, Server
except ImportError:  # the tests know this folder as a package
    from benchmarks.load_study import Browser, Gone, Server

CLIP_MS = 400
"""Two passes of a clip this short fit into the slack of the watch rule, so raters need not wait."""
EARLIEST_S, LATEST_S = 0.0, 1.5
"""When a server is killed, counted from its first word; one in five dies while it is still starting."""


def make_studies(db: str, folder: Path, *, raters: int, pairs: int) -> list[str]:
    """One study per rater over a few small files, and the invitations' secrets."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "clips.csv"
    if not table.exists():
        for system, value in (("alpha", 40), ("beta", 90)):
            for number in range(2):
                frames = [np.full((16, 16, 3), value + number, np.uint8)] * (CLIP_MS * 25 // 1000)
                write_clip(folder / f"{system}{number}.mp4", frames, fps=25)
        rows = ["sample_id,task_id,prompt_id,system,path,prompt_text"]
        for pair in range(pairs):
            rows += [f"s{pair},T1,{pair},{s},{s}{pair % 2}.mp4,Words {pair}" for s in ("alpha", "beta")]
        table.write_text("\n".join(rows) + "\n")
    links = []
    with open_service(db, media=folder / "media") as service:
        for number in range(raters):
            plan = StudyPlan(name=f"study{number}", seed=number, gold_every=0, repeat_every=5)
            service.create_study(plan, training=False)
            service.import_csv(plan.name, table)
            links.append(service.invite(plan.name)[0].token)
    return links


def opinion(study: str, count: int) -> tuple[Choice, int, str]:
    """What a study's rater says of their next pair: winner, rating, note; the same in every store."""
    digest = hashlib.sha256(f"{study} {count}".encode()).digest()
    return ("A", "B", "Tie")[digest[0] % 3], 1 + digest[1] % 5, f"vote {count}: é, \u201c=1+1\u201d"  # type: ignore[return-value]


class Rater:
    """One person who votes until told to stop, and knows which votes were acknowledged."""

    def __init__(self, study: str, link: str, port: int, chance: random.Random) -> None:
        self.study, self.link, self.chance = study, link, chance
        self.browser = Browser(port, defaultdict(list), patient=True)
        self.browser.tries = 100_000  # on a busy machine many servers may die before one answers
        self.acknowledged = 0
        self.stop = False

    async def sign_in(self) -> None:
        await self.browser.get("/login")
        self.browser.csrf = json.loads(await self.browser.get("/csrf.json"))["csrf"]
        await self.browser.form(f"/i/{self.link}", {})
        await self.browser.form("/rate/consent", {})

    async def work(self) -> None:
        while not self.stop:
            page = await self.browser.get("/rate")
            shown = re.search(r'data-assignment="([^"]+)"', page)
            if shown is None:
                raise AssertionError(f"{self.study}: no pair left; the soak needs more pairs")
            for clip in sorted(set(re.findall(r'"(/media/[^"]+)"', page))):  # only what was sent is watched
                await self.browser.get(clip, name="media")
            with contextlib.suppress(Gone):  # what a killed server had not stored of the watching is watched again
                await self.judge(shown[1], sorted(set(re.findall(r'name="ratings_a\.(\w+)"', page))))
            await asyncio.sleep(self.chance.uniform(0.0, 0.1))

    async def judge(self, key: str, dimensions: list[str]) -> None:
        winner, rating, note = opinion(self.study, self.acknowledged)
        events = [_stretch(side, number) for number in range(2) for side in ("A", "B")]
        await self.browser.json("/rate/watch", {"assignment": key, "events": events})
        form = {"assignment": key, "key": f"pair-{key}"[:64], "winner": winner, "primary_tag": "Missed constraint"}
        form |= {"note": note} | {f"ratings_{side}.{name}": str(rating) for name in dimensions for side in ("a", "b")}
        await self.browser.form("/rate/draft", form)
        answer = json.loads(await self.browser.form("/rate/vote", form))
        assert answer["accepted"], answer
        self.acknowledged += 1


def _stretch(side: str, number: int) -> dict[str, object]:
    return {
        "side": side,
        "start_ms": 0,
        "end_ms": CLIP_MS,
        "rate": 1.0,
        "visible": True,
        "client_ms": 0,
        "sequence": 2 * number + (side == "B"),
    }


def _start_and_kill(db: str, media: Path, port: int, after_s: float) -> None:
    """A server that dies while it starts: it opens the database, looks for migrations, and is gone."""
    command = [sys.executable, "-m", "rushes", "serve", "--db", db, "--media", str(media), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after_s)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


async def _kill_again_and_again(db: str, media: Path, links: list[str], *, kills: int, seed: int) -> list[Rater]:
    chance = random.Random(seed)
    server = await asyncio.to_thread(Server, db, media)
    port = server.port
    raters = [Rater(f"study{n}", link, port, random.Random(seed + n)) for n, link in enumerate(links)]
    await asyncio.gather(*(rater.sign_in() for rater in raters))
    work = asyncio.gather(*(rater.work() for rater in raters))
    try:
        for number in range(kills):
            if number % 5 == 1:
                await asyncio.to_thread(_start_and_kill, db, media, port, chance.uniform(0.1, 1.5))
                continue
            if server.process.poll() is not None:
                server = await asyncio.to_thread(Server, db, media, port)
            await asyncio.sleep(chance.uniform(EARLIEST_S, LATEST_S))
            await asyncio.to_thread(server.kill)
        if server.process.poll() is not None:
            server = await asyncio.to_thread(Server, db, media, port)
        for rater in raters:
            rater.stop = True
        await work
    finally:
        work.cancel()
        for rater in raters:
            rater.browser.close()
        server.close()
    return raters


def kill_serve(db: str, again: str, folder: Path, *, kills: int, seed: int, raters: int = 4, pairs: int = 400) -> int:
    """Kill, go on, compare with the uninterrupted store in `again`; how many votes were acknowledged.

    Raises `AssertionError` where a vote is lost, stored twice or half, or where an export differs.
    """
    links = make_studies(db, folder, raters=raters, pairs=pairs)
    people = asyncio.run(_kill_again_and_again(db, folder / "media", links, kills=kills, seed=seed))
    with open_service(db, media=folder / "media") as service:
        _no_half_rows(service)
        found = {rater.study: exports(service, rater.study) for rater in people}
        for rater in people:
            stored = len(service.votes(rater.study))
            assert stored == rater.acknowledged > 0, f"{rater.study}: {rater.acknowledged} told, {stored} stored"
    links = make_studies(again, folder, raters=raters, pairs=pairs)
    with open_service(again, media=folder / "media") as service:
        for rater, link in zip(people, links, strict=True):
            _vote_in_peace(service, rater.study, link, rater.acknowledged)
            assert exports(service, rater.study) == found[rater.study], f"{rater.study}: the exports differ"
    return sum(rater.acknowledged for rater in people)


def _vote_in_peace(service: StudyService, study: str, link: str, count: int) -> None:
    session = service.accept_invite(link).token
    service.give_consent(session)
    for number in range(count):
        winner, rating, note = opinion(study, number)
        task = service.next_task(session)
        assert task is not None
        plays = [PlayEvent(**_stretch(side, n)) for n in range(2) for side in ("A", "B")]  # type: ignore[arg-type]
        service.load_clips(session, task)
        service.record_play(session, task.assignment, plays)
        ratings = dict.fromkeys(task.dimensions, rating)
        form = VoteForm(
            winner=winner, primary_tag="Missed constraint", ratings_a=ratings, ratings_b=dict(ratings), note=note
        )
        answer = service.submit_vote(session, task.assignment, form, key=f"pair-{task.assignment}"[:64])
        assert isinstance(answer, Accepted), answer


def _no_half_rows(service: StudyService) -> None:
    """The database is sound, and every vote has its assignment and every voted assignment its vote."""
    with service.database.read() as connection:
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
            assert not connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        votes = {row.id: row for row in connection.execute(vote.select())}
        done = [row for row in connection.execute(assignment.select()) if row.vote_id is not None]
    assert len(done) == len(votes) == len({row.assignment_id for row in votes.values()}), (
        "a vote is there twice, or half"
    )
    for row in done:
        assert votes[row.vote_id].assignment_id == row.id and row.state == "voted" and row.draft is None, row


def exports(service: StudyService, study: str) -> dict[str, bytes]:
    """Every export of a study, by its kind."""
    votes = service.votes(study, adjudicated=True)
    files = {clip.id: clip.source for clip in service.clips(study)}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        exchange.write_csv(target / "csv", votes)
        exchange.write_ratings(target / "ratings", votes)
        exchange.write_arena(target / "arena", votes)
        exchange.write_pwcmp(target / "pwcmp", votes)
        exchange.write_dpo(target / "dpo", votes, prompts=service.prompts(study), clips=files)
        return {path.name: path.read_bytes() for path in sorted(target.iterdir())}
