"""200 raters at once over HTTP, on SQLite and on PostgreSQL; kill -9 under load, of the server and of
PostgreSQL; and a backup in the middle of it.

    python benchmarks/load_study.py [--raters 200] [--seconds 60] [--database sqlite|postgresql|both] [--large]
        [--workers 1]

Each rater does what the page does: opens the link, agrees, loads the pair and its clips, watches (a report every two
seconds of play), saves drafts, votes, loads the next pair ahead. The server is `rushes serve` in its own process, as a
user starts it; PostgreSQL keeps its own settings (fsync on). Raters, server and database share the machine's cores, so
the figures are what those give to all three; how much processor time each took is recorded. Times are from the first
byte sent to the last byte read, as the rater's program sees them, so that its own waiting counts as well.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
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
from sqlalchemy import text

from rushes.media import ClipReader, write_clip
from rushes.study import StudyPlan
from rushes.study.service import open_service

PAIRS = 400
CLIP_S = 4
ARRIVAL_S = 20.0
CRASH_RATERS = 60
LIMIT_MS = 150.0
PASSWORD = "only for the benchmark"


class Answer(Exception):
    """An answer that was not expected."""


class Gone(Answer):
    """The server knows nothing of this pair, or not all of what was watched: the page would load anew."""


class Browser:
    """One rater's connection: keep-alive, cookies, CSRF. Plain sockets, so that the raters cost little."""

    def __init__(self, port: int, times: dict[str, list[float]], *, patient: bool) -> None:
        self.port, self.times, self.patient = port, times, patient
        self.tries = 400
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
        """The answer's text. A patient rater tries again while the server or its database is away, as the page does."""
        for _ in range(self.tries):
            try:
                begun = time.perf_counter()
                status, content = await self._exchange(method, path, body, kind)
                self.times[f"{method} {name}"].append((time.perf_counter() - begun) * 1000)
                if status >= 500 and self.patient:
                    raise ConnectionError(status)
                if status >= 400:
                    error = Gone if status == 409 and self.patient else Answer
                    raise error(f"{method} {path}: {status} {content[:300]!r}")
                return "" if name == "media" else content.decode()
            except (OSError, asyncio.IncompleteReadError, ValueError):
                self.close()
                if not self.patient:
                    raise
                await asyncio.sleep(0.1)
        raise Answer(f"{method} {path}: the server never came back")

    def close(self) -> None:
        """Let go of the connection; the next request opens another."""
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None

    async def _exchange(self, method: str, path: str, body: bytes, kind: str) -> tuple[int, bytes]:
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

    async def _read(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        content = await reader.readexactly(int(length[1])) if length else b""
        for key, value in re.findall(r"set-cookie: (\w+)=([^;]*)", head, re.IGNORECASE):
            self.cookies[key] = value
        return int(head.split(" ", 2)[1]), content


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
        loaded: list[str] = []
        while time.monotonic() < self.until:
            page = await self.browser.get("/rate")
            found = re.search(r'data-assignment="([^"]+)"', page)
            if found is None:  # no pair left
                return
            if not loaded:  # later pairs were loaded ahead
                await self.load(sorted(set(re.findall(r'"(/media/[^"]+)"', page))))
            loaded = json.loads(await self.browser.get("/rate/next.json"))["clips"]
            await self.load(loaded)
            with contextlib.suppress(Gone):
                await self.judge(found[1], sorted(set(re.findall(r'name="ratings_a\.(\w+)"', page))))

    async def load(self, clips: list[str]) -> None:
        for clip in clips:
            await self.browser.get(clip, name="media")

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

    def __init__(self, db: str, media: Path, port: int = 0, workers: int = 1) -> None:
        command = [sys.executable, "-m", "rushes", "serve", "--db", db, "--media", str(media), "--port", str(port)]
        command += ["--workers", str(workers)]
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


def moving(shade: int) -> Iterator[np.ndarray]:
    """Frames of 320 × 180 in which all of a coarse pattern moves, so that a clip has the size of a real small one."""
    blocks = np.random.default_rng(shade).integers(0, 200, (12, 21, 3), np.uint8)
    picture = blocks.repeat(16, axis=0).repeat(16, axis=1)
    for step in range(25 * CLIP_S):
        yield np.roll(picture, (step, 2 * step), axis=(0, 1))[:180, :320] // 2 + shade


def noise(seed: int) -> Iterator[np.ndarray]:
    """Frames of noise, which no encoder makes small: at crf 9 a clip of four seconds has about eight megabytes."""
    rng = np.random.default_rng(seed)
    for _ in range(25 * CLIP_S):
        yield rng.integers(0, 255, (240, 384, 3), np.uint8)


def make_study(db: str, folder: Path, raters: int, *, large: bool = False) -> list[str]:
    """A study of many pairs over a few files, and the raters' links."""
    for system, value in (("alpha", 40), ("beta", 90)):
        for number in range(4):
            frames = noise(value + number) if large else moving(value + number)
            write_clip(folder / f"{system}{number}.mp4", frames, fps=25, crf=9 if large else 18)
    rows = ["sample_id,task_id,prompt_id,system,path"]
    for pair in range(PAIRS):
        rows += [f"s{pair},T{1 + pair % 3},{pair},{s},{s}{pair % 4}.mp4" for s in ("alpha", "beta")]
    (folder / "clips.csv").write_text("\n".join(rows) + "\n")
    with open_service(db, media=folder / "media") as service:
        service.create_study(StudyPlan(name="load", gold_every=0, repeat_every=0), training=False)
        service.import_csv("load", folder / "clips.csv")
        return [f"/i/{one.token}" for one in service.invite("load", count=raters)]


async def crowd(
    server: Server,
    links: list[str],
    seconds: float,
    times: dict[str, list[float]],
    *,
    patient: bool,
    into: list[Rater] | None = None,
) -> list[Rater]:
    """Everybody works until the time is over; `into` has them from the start."""
    until = time.monotonic() + seconds
    raters = [] if into is None else into
    raters += [
        Rater(link, Browser(server.port, times, patient=patient), until, random.Random(number))
        for number, link in enumerate(links)
    ]
    await asyncio.gather(*(rater.work() for rater in raters))
    return raters


def stored(db: str, folder: Path) -> int:
    with open_service(db, media=folder / "media") as service:
        return len(service.votes("load"))


@dataclasses.dataclass
class Measured:
    """What a crowd saw."""

    times: dict[str, list[float]]
    acknowledged: int
    stored: int
    cpu_s: dict[str, float]
    """Processor seconds of the raters, the server and the database."""


def measure(
    db: str,
    folder: Path,
    raters: int,
    seconds: float,
    server_home: Path | None,
    *,
    large: bool = False,
    workers: int = 1,
) -> Measured:
    links = make_study(db, folder, raters, large=large)
    times: dict[str, list[float]] = defaultdict(list)
    before, database_before = time.process_time(), postgres_cpu_s(server_home)
    server = Server(db, folder / "media", workers=workers)
    try:
        people = asyncio.run(crowd(server, links, seconds, times, patient=False))
        spent = {"raters": time.process_time() - before, "server": sum(map(cpu_s, with_children(server.process.pid)))}
        if server_home is not None:
            spent["PostgreSQL"] = postgres_cpu_s(server_home) - database_before
    finally:
        server.close()
    return Measured(times, sum(len(rater.acknowledged) for rater in people), stored(db, folder), spent)


def cpu_s(process: int) -> float:
    """Processor seconds a process has taken, with the children it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def postgres_cpu_s(home: Path | None) -> float:
    return sum(cpu_s(process) for process in postgres_processes(home)) if home is not None else 0.0


def postgres_processes(home: Path) -> list[int]:
    """The server's main process first, then its children."""
    return with_children(int((home / "data" / "postmaster.pid").read_text().split()[0]))


def with_children(process: int) -> list[int]:
    """A process, and those that it started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *map(int, children)]


async def killed(db: str, folder: Path, links: list[str], seconds: float, postgres_home: Path | None) -> int:
    """Acknowledged votes of a crowd whose server is killed and started again; then PostgreSQL too, where it is given.

    SQLite: the server twice. PostgreSQL: the server once, then every process of the database at once.
    """
    server = Server(db, folder / "media")
    work = asyncio.create_task(crowd(server, links, seconds, defaultdict(list), patient=True))
    try:
        await asyncio.sleep(seconds * 0.45)
        await asyncio.to_thread(server.kill)
        server = await asyncio.to_thread(Server, db, folder / "media", server.port)
        await asyncio.sleep(seconds * 0.3)
        if postgres_home is None:
            await asyncio.to_thread(server.kill)
            server = await asyncio.to_thread(Server, db, folder / "media", server.port)
        else:
            await asyncio.to_thread(kill_postgres, postgres_home)
        return sum(len(rater.acknowledged) for rater in await work)
    finally:
        server.close()


def kill_postgres(home: Path) -> None:
    """SIGKILL for all of the database's processes at once, then a start, which recovers from its log."""
    victims = postgres_processes(home)
    for process in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    while any(Path(f"/proc/{process}").exists() for process in victims):
        time.sleep(0.02)
    start_postgres(home)


def as_postgres(program: str, *options: str) -> None:
    """Run one of PostgreSQL's programs; as its own user where we are root, because it refuses to run as root."""
    as_user = ["/usr/sbin/runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    binary = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))[-1]
    subprocess.run([*as_user, str(binary), *options], check=True, capture_output=True, cwd="/")


def start_postgres(home: Path) -> None:
    options = f"-c listen_addresses='' -c unix_socket_directories={home} -c max_connections=120"
    as_postgres("pg_ctl", "-D", str(home / "data"), "-w", "-l", str(home / "log"), "-o", options, "start")


@contextlib.contextmanager
def postgres() -> Iterator[Path | None]:
    """The folder of a PostgreSQL server of our own; None where there is no binary."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        yield None
        return
    home = Path(tempfile.mkdtemp(prefix="rushes-pg-"))
    if os.getuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(home, user.pw_uid, user.pw_gid)
    as_postgres("initdb", "-D", str(home / "data"), "-U", "rushes", "-A", "trust", "-E", "UTF8")
    start_postgres(home)
    try:
        yield home
    finally:
        as_postgres("pg_ctl", "-D", str(home / "data"), "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


def fresh_database(home: Path, name: str) -> str:
    as_postgres("createdb", "-h", str(home), "-U", "rushes", name)
    return f"postgresql://rushes@/{name}?host={home}"


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def report(kind: str, found: Measured, raters: int) -> list[list[str]]:
    rows = [
        [f"{kind}: {raters} raters, votes acknowledged / stored", "equal", f"{found.acknowledged} / {found.stored}"]
    ]
    for name in sorted(found.times):
        values = found.times[name]
        asked = "–" if name == "GET media" else f"p95 < {LIMIT_MS:.0f} ms"
        took = f"p50 {statistics.median(values):.0f} ms, p95 {p95(values):.0f} ms, longest {max(values):.0f} ms"
        rows.append([f"{kind}: {name} ({len(values)})", asked, took])
    requests = sum(map(len, found.times.values()))
    spent = ", ".join(f"{who} {1000 * seconds / requests:.1f} ms" for who, seconds in found.cpu_s.items())
    return [*rows, [f"{kind}: processor time for each of {requests} requests", "–", spent]]


def crash(kind: str, folder: Path, home: Path | None) -> list[list[str]]:
    """kill -9 under load: what was acknowledged is there afterwards."""
    folder.mkdir()
    db = str(folder / "studies.db") if home is None else fresh_database(home, "killed")
    links = make_study(db, folder, CRASH_RATERS)
    acknowledged = asyncio.run(killed(db, folder, links, 40.0, home))
    what = "server killed twice" if home is None else "server killed, then every process of PostgreSQL,"
    return [
        [
            f"{kind}: {what} (SIGKILL) under {CRASH_RATERS} raters, votes acknowledged / stored",
            "none lost",
            f"{acknowledged} / {stored(db, folder)}",
        ]
    ]


async def backed_up(db: str, folder: Path, links: list[str], seconds: float) -> set[str]:
    """Votes acknowledged before `rushes study backup` began, in the middle of a crowd that goes on to its end."""
    server = Server(db, folder / "media")
    try:
        raters: list[Rater] = []
        work = asyncio.create_task(crowd(server, links, seconds, defaultdict(list), patient=False, into=raters))
        await asyncio.sleep(0.6 * seconds)
        before = {assignment for rater in raters for assignment in rater.acknowledged}
        await asyncio.to_thread(
            rushes, "study", "backup", "-o", folder / "kept", "--db", db, "--media", folder / "media"
        )
        await work
        assert sum(len(rater.acknowledged) for rater in raters) > len(before), "nobody voted beside the backup"
        return before
    finally:
        server.close()


def backup(kind: str, folder: Path, home: Path | None, raters: int, seconds: float) -> list[list[str]]:
    """A backup beside a crowd, restored elsewhere: what is in it, and a rater who works on at the restored server."""
    folder.mkdir()
    db = str(folder / "studies.db") if home is None else fresh_database(home, "backed_up")
    *links, late = make_study(db, folder, raters + 1)
    before = asyncio.run(backed_up(db, folder, links, seconds))
    elsewhere = folder.with_name(f"{folder.name}-elsewhere")
    shutil.move(folder / "kept", elsewhere / "kept")
    shutil.rmtree(folder)
    rushes("study", "restore", elsewhere / "kept", "--db", elsewhere / "studies.db")
    shutil.rmtree(elsewhere / "kept")
    with open_service(elsewhere / "studies.db") as service, service.database.read() as connection:
        there = set(
            connection.execute(
                text("SELECT assignment.key FROM vote JOIN assignment ON assignment.id = vote.assignment_id")
            ).scalars()
        )
        clips = [service.media(token).path for token in connection.execute(text("SELECT token FROM clip")).scalars()]
        played = sum(sum(1 for _ in ClipReader(clip)) == 25 * CLIP_S for clip in clips)
    server = Server(str(elsewhere / "studies.db"), elsewhere / "studies.media")
    try:
        (rater,) = asyncio.run(crowd(server, [late], ARRIVAL_S + 15, defaultdict(list), patient=False))
    finally:
        server.close()
    what = f"{kind}: backed up in the middle of {raters} raters, restored elsewhere, the first folder gone"
    return [
        [f"{what}: votes acknowledged before it / of them restored", "equal", f"{len(before)} / {len(before & there)}"],
        [f"{what}: clips / played from beginning to end", "equal", f"{len(clips)} / {played}"],
        [f"{what}: votes of a rater who joins there", "≥ 1", f"{len(rater.acknowledged)}"],
    ]


def rushes(*words: str | Path) -> None:
    """A command that has to succeed."""
    subprocess.run([sys.executable, "-m", "rushes", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def measured(given: argparse.Namespace, db: str, place: Path, server_home: Path | None) -> Measured:
    return measure(db, place, given.raters, given.seconds, server_home, large=given.large, workers=given.workers)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--raters", type=int, default=200)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    options.add_argument("--large", action="store_true", help="clips of about 8 MB in place of small ones")
    options.add_argument("--workers", type=int, default=1, help="processes of the server that is measured")
    given = options.parse_args()
    rows: list[list[str]] = []
    kinds = ("sqlite", "postgresql") if given.database == "both" else (given.database,)
    with postgres() as home, tempfile.TemporaryDirectory(prefix="rushes-load-") as folder:
        for kind in kinds:
            if kind == "postgresql" and home is None:
                rows.append([f"{kind}: not measured", "", "no PostgreSQL server binary here"])
                continue
            place, server_home = Path(folder) / kind, home if kind == "postgresql" else None
            place.mkdir()
            db = str(place / "studies.db") if server_home is None else fresh_database(server_home, "load")
            before = os.getloadavg()[0]
            rows += report(kind, measured(given, db, place, server_home), given.raters)
            loads = f"{before:.1f} / {os.getloadavg()[0]:.1f}"
            rows.append([f"{kind}: load average of the machine before / after", "–", loads])
            rows += crash(kind, Path(folder) / f"{kind}-killed", server_home)
            rows += backup(kind, Path(folder) / f"{kind}-backed-up", server_home, given.raters, given.seconds)
    from recording import record  # here, so that the tests can use the raters and the server above

    record(
        "load_study",
        "The study over HTTP under load",
        rows,
        how=f"`benchmarks/load_study.py`: `rushes serve --workers {given.workers}`, "
        f"{given.raters} raters (one process of plain sockets) and "
        f"PostgreSQL on the same machine for {given.seconds:.0f} s; raters arrive within the first {ARRIVAL_S:.0f} s, "
        f"watch two clips of {CLIP_S} s ({'about 8 MB' if given.large else 'small'}) twice and "
        "send what the page sends: the pair, its clips, a play report every "
        "2 s, a draft after each, the vote. Any error ends the benchmark. Where the load average before is above 1, "
        "other work was going on beside it.",
    )


if __name__ == "__main__":
    main()
