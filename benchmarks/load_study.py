"""200 raters at once over HTTP, on SQLite and on PostgreSQL; and kill -9 under load.

    python benchmarks/load_study.py [--raters 200] [--seconds 60] [--database sqlite|postgresql|both]

Each rater does what the page does: opens the link, agrees, watches (a report every two seconds of play), saves drafts,
votes, loads the next pair. The server is `rushes serve` in its own process; the raters share the machine with it, so
the figures are what its cores give to both. Times are from the first byte sent to the last byte read.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import pwd
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from recording import record
from rushes.decode import write_clip
from rushes.study import StudyPlan
from rushes.study.service import open_service

PAIRS = 400
CLIP_S = 4
ARRIVAL_S = 20.0
LIMIT_MS = 150.0
PASSWORD = "only for the benchmark"


class Answer(Exception):
    """An answer that was not expected."""


class Browser:
    """One rater's connection: keep-alive, cookies, CSRF. Plain sockets, so that the raters cost little."""

    def __init__(self, port: int, times: dict[str, list[float]], *, patient: bool) -> None:
        self.port, self.times, self.patient = port, times, patient
        self.cookies: dict[str, str] = {}
        self.csrf = ""
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, *, name: str = "") -> str:
        return await self.ask("GET", path, b"", "", name or path)

    async def form(self, path: str, fields: dict[str, str], *, name: str = "") -> str:
        body = urlencode(fields).encode()
        return await self.ask("POST", path, body, "application/x-www-form-urlencoded", name or path)

    async def json(self, path: str, data: object) -> str:
        return await self.ask("POST", path, json.dumps(data).encode(), "application/json", path)

    async def ask(self, method: str, path: str, body: bytes, kind: str, name: str) -> str:
        """The answer's text. A patient rater tries again while the server is away, as the page does."""
        for _ in range(400):
            try:
                begun = time.perf_counter()
                status, text = await self._exchange(method, path, body, kind)
                self.times[f"{method} {name}"].append((time.perf_counter() - begun) * 1000)
                if status >= 400:
                    raise Answer(f"{method} {path}: {status} {text[:300]}")
                return text
            except (OSError, asyncio.IncompleteReadError, ValueError):
                self.streams = None
                if not self.patient:
                    raise
                await asyncio.sleep(0.1)
        raise Answer(f"{method} {path}: the server never came back")

    async def _exchange(self, method: str, path: str, body: bytes, kind: str) -> tuple[int, str]:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        host = f"127.0.0.1:{self.port}"
        head = [
            f"{method} {path} HTTP/1.1",
            f"host: {host}",
            "accept: application/json" if kind == "application/json" or path != "/rate" else "accept: text/html",
            f"cookie: {'; '.join(f'{key}={value}' for key, value in self.cookies.items())}",
            f"content-length: {len(body)}",
        ]
        if method == "POST":
            head += [f"origin: http://{host}", f"x-csrf-token: {self.csrf}", f"content-type: {kind}"]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()
        return await self._read(reader)

    async def _read(self, reader: asyncio.StreamReader) -> tuple[int, str]:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        text = (await reader.readexactly(int(length[1]))).decode() if length else ""
        for key, value in re.findall(r"set-cookie: (\w+)=([^;]*)", head, re.IGNORECASE):
            self.cookies[key] = value
        return int(head.split(" ", 2)[1]), text


class Rater:
    """One person, from the link to the last vote in the time given."""

    def __init__(self, link: str, browser: Browser, until: float, chance: random.Random) -> None:
        self.link, self.browser, self.until, self.chance = link, browser, until, chance
        self.acknowledged: list[str] = []
        self.sequence = int(time.time() * 1_000_000)

    async def work(self) -> None:
        await asyncio.sleep(self.chance.uniform(0, ARRIVAL_S))  # people do not come in the same instant
        await self.browser.get("/login")
        self.browser.csrf = json.loads(await self.browser.get("/csrf.json"))["csrf"]
        await self.browser.form(self.link, {}, name="/i/…")
        await self.browser.form("/rate/consent", {})
        while time.monotonic() < self.until:
            page = await self.browser.get("/rate")
            found = re.search(r'data-assignment="([^"]+)"', page)
            if found is None:  # no pair left
                return
            await self.browser.get("/rate/next.json")
            await self.judge(found[1], sorted(set(re.findall(r'name="ratings_a\.(\w+)"', page))))

    async def judge(self, assignment: str, dimensions: list[str]) -> None:
        """Watch both clips twice, filling in the form meanwhile; then vote."""
        form = {"assignment": assignment, "key": f"pair-{assignment}"[:64], "winner": "A"}
        form["primary_tag"] = "Missed constraint"
        for number in range(2 * CLIP_S // 2):  # a report for every two seconds of play
            await asyncio.sleep(2.0)
            start = 2000 * number % (1000 * CLIP_S)
            events = [self.stretch(side, start) for side in ("A", "B")]
            await self.browser.json("/rate/watch", {"assignment": assignment, "events": events})
            for key in dimensions if number == 3 else dimensions[number : number + 1]:
                form |= {f"ratings_a.{key}": "4", f"ratings_b.{key}": "2"}
            await asyncio.sleep(self.chance.uniform(0.2, 0.8))
            await self.browser.form("/rate/draft", form)
        await asyncio.sleep(self.chance.uniform(0.5, 2.0))
        answer = json.loads(await self.browser.form("/rate/vote", form))
        if not answer["accepted"]:
            raise Answer(f"a complete vote was not taken: {answer}")
        self.acknowledged.append(assignment)

    def stretch(self, side: str, start: int) -> dict[str, object]:
        self.sequence += 1
        now = int(time.time() * 1000)
        return {
            "side": side,
            "start_ms": start,
            "end_ms": start + 2000,
            "rate": 1.0,
            "visible": True,
            "client_ms": now,
            "sequence": self.sequence,
        }


class Server:
    """`rushes serve` in its own process."""

    def __init__(self, db: str, media: Path, port: int = 0) -> None:
        command = [sys.executable, "-m", "rushes", "serve", "--db", db, "--media", str(media), "--port", str(port)]
        environment = os.environ | {"RUSHES_ADMIN_PASSWORD": PASSWORD}
        self.process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        self.port = int(json.loads(self.process.stdout.readline())["address"].rsplit(":", 1)[1])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()


def make_study(db: str, folder: Path, raters: int) -> list[str]:
    """A study of many pairs over a few files, and the raters' links."""
    for system, value in (("alpha", 40), ("beta", 90)):
        for number in range(4):
            frames = (np.full((16, 16, 3), value + number, np.uint8) for _ in range(25 * CLIP_S))
            write_clip(folder / f"{system}{number}.mp4", frames, fps=25)
    rows = ["sample_id,task_id,prompt_id,system,path"]
    for pair in range(PAIRS):
        rows += [f"s{pair},T{1 + pair % 3},{pair},{s},{s}{pair % 4}.mp4" for s in ("alpha", "beta")]
    (folder / "clips.csv").write_text("\n".join(rows) + "\n")
    with open_service(db, media=folder / "media") as service:
        service.create_study(StudyPlan(name="load", gold_every=0, repeat_every=0), training=False)
        service.import_csv("load", folder / "clips.csv")
        return [f"/i/{one.token}" for one in service.invite("load", count=raters)]


async def crowd(
    server: Server, links: list[str], seconds: float, times: dict[str, list[float]], *, patient: bool
) -> list[Rater]:
    until = time.monotonic() + seconds
    raters = [
        Rater(link, Browser(server.port, times, patient=patient), until, random.Random(number))
        for number, link in enumerate(links)
    ]
    await asyncio.gather(*(rater.work() for rater in raters))
    return raters


def stored(db: str, folder: Path) -> int:
    with open_service(db, media=folder / "media") as service:
        return len(service.votes("load"))


def measure(db: str, folder: Path, raters: int, seconds: float) -> tuple[dict[str, list[float]], int, int]:
    """Times by request, acknowledged votes, stored votes."""
    links = make_study(db, folder, raters)
    times: dict[str, list[float]] = defaultdict(list)
    server = Server(db, folder / "media")
    try:
        people = asyncio.run(crowd(server, links, seconds, times, patient=False))
    finally:
        server.close()
    return times, sum(len(rater.acknowledged) for rater in people), stored(db, folder)


async def killed_twice(db: str, folder: Path, links: list[str], seconds: float) -> int:
    """Acknowledged votes of a crowd whose server is killed twice and started again."""
    server = Server(db, folder / "media")
    work = asyncio.create_task(crowd(server, links, seconds, defaultdict(list), patient=True))
    for moment in (0.45, 0.3):
        await asyncio.sleep(seconds * moment)
        await asyncio.to_thread(server.kill)
        server = await asyncio.to_thread(Server, db, folder / "media", server.port)
    try:
        return sum(len(rater.acknowledged) for rater in await work)
    finally:
        server.close()


@contextlib.contextmanager
def postgres() -> Iterator[str | None]:
    """URL of a PostgreSQL server of our own; None where there is no binary."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not binaries:
        yield None
        return
    folder, home = binaries[-1].parent, Path(tempfile.mkdtemp(prefix="rushes-pg-"))
    as_user: list[str] = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = pwd.getpwnam("postgres")
        os.chown(home, user.pw_uid, user.pw_gid)
        as_user = ["/usr/sbin/runuser", "-u", "postgres", "--"]

    def run(*command: str) -> None:
        subprocess.run([*as_user, *command], check=True, capture_output=True, cwd="/")

    run(str(folder / "initdb"), "-D", str(home / "data"), "-U", "rushes", "-A", "trust", "-E", "UTF8")
    options = f"-c listen_addresses='' -c unix_socket_directories={home} -c max_connections=120"
    run(str(folder / "pg_ctl"), "-D", str(home / "data"), "-w", "-l", str(home / "log"), "-o", options, "start")
    try:
        yield f"postgresql://rushes@/postgres?host={home}"
    finally:
        run(str(folder / "pg_ctl"), "-D", str(home / "data"), "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def report(kind: str, times: dict[str, list[float]], acknowledged: int, kept: int, raters: int) -> list[list[str]]:
    rows = [[f"{kind}: {raters} raters, votes acknowledged / stored", "equal", f"{acknowledged} / {kept}"]]
    for name in sorted(times):
        values = times[name]
        asked = f"p95 < {LIMIT_MS:.0f} ms"
        rows.append(
            [
                f"{kind}: {name} ({len(values)})",
                asked,
                f"p50 {statistics.median(values):.0f} ms, p95 {p95(values):.0f} ms",
            ]
        )
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--raters", type=int, default=200)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    given = options.parse_args()
    busy = os.getloadavg()[0]
    rows: list[list[str]] = []
    kinds = ("sqlite", "postgresql") if given.database == "both" else (given.database,)
    with postgres() as server, tempfile.TemporaryDirectory(prefix="rushes-load-") as home:
        for kind in kinds:
            db = str(Path(home) / "studies.db") if kind == "sqlite" else server
            if db is None:
                rows.append([f"{kind}: not measured", "", "no PostgreSQL server binary here"])
                continue
            folder = Path(home) / kind
            folder.mkdir()
            rows += report(kind, *measure(db, folder, given.raters, given.seconds), given.raters)
        folder = Path(home) / "killed"
        folder.mkdir()
        db = str(folder / "studies.db")
        links = make_study(db, folder, 60)
        acknowledged = asyncio.run(killed_twice(db, folder, links, 40.0))
        rows.append(
            [
                "sqlite: server killed twice (SIGKILL) under 60 raters, votes acknowledged / stored",
                "none lost",
                f"{acknowledged} / {stored(db, folder)}",
            ]
        )
    record(
        "load_study",
        "The study over HTTP under load",
        rows,
        how=f"`benchmarks/load_study.py`: `rushes serve` and {given.raters} raters on the same machine for "
        f"{given.seconds:.0f} s, who arrive within the first {ARRIVAL_S:.0f} s; each rater sends what the page sends. "
        f"Any error ends the benchmark. Load average of the machine when it began: {busy:.1f} (other work was going on "
        "beside it where this is above 1).",
    )


if __name__ == "__main__":
    main()
