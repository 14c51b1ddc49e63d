"""`rushes judge` against an endpoint that answers in 50 ms: how full 32 requests in flight are kept, and memory.

`python benchmarks/bench_judge.py [CLIPS]` records into RESULTS.md: 1,000 clips × 4 questions × 2 repeats, 4 frames of
64 × 48 each. The endpoint is a process of its own (asyncio, nothing but HTTP) that measures for itself how many
requests it holds at a time. Frames are decoded once per clip; the run asks 32 at a time.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from recording import record
from rushes.instruments.judge.asking import frames as frames_module
from rushes.instruments.judge.evaluate import judge_clips
from rushes.media import write_clip

ANSWER_S, IN_FLIGHT, QUESTIONS, REPEATS = 0.050, 32, 4, 2
_REPLY = {"model": "stub", "choices": [{"message": {"content": '{"reason": "steady", "answer": 4}'}}]}


class Endpoint:
    """Answers after 50 ms and keeps the time integral of the requests it holds."""

    def __init__(self) -> None:
        self.held = self.served = 0
        self.integral = 0.0
        self.last = self.first = 0.0
        body = json.dumps(_REPLY).encode()
        self.reply = (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )

    def count(self, step: int) -> None:
        now = time.perf_counter()
        self.first = self.first or now
        self.integral += self.held * (now - (self.last or now))
        self.last, self.held = now, self.held + step

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self.count(1)  # from its headers on: what is still being sent is in flight too
                await reader.readexactly(length)
                await asyncio.sleep(ANSWER_S)
                self.count(-1)
                self.served += 1
                writer.write(self.reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def _serve(pipe: Connection) -> None:
    endpoint = Endpoint()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, limit=1 << 22)
    pipe.send(server.sockets[0].getsockname()[1])
    while not pipe.poll():
        await asyncio.sleep(0.05)
    span = endpoint.last - endpoint.first
    pipe.send((endpoint.served, endpoint.integral / span, span))


def _run_endpoint(pipe: Connection) -> None:
    asyncio.run(_serve(pipe))


def make_clips(folder: Path, count: int) -> None:
    """Small clips; a few files, many names."""
    draw = np.random.default_rng(1)
    first = write_clip(folder / "p0.mp4", [draw.integers(0, 256, (48, 64, 3), dtype=np.uint8) for _ in range(8)], fps=8)
    data = first.read_bytes()
    for number in range(1, count):
        (folder / f"p{number}.mp4").write_bytes(data + number.to_bytes(4, "big"))  # another digest, the same pictures


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    made = 0
    sampled = frames_module.sampled_frames

    def counted(*args: object, **kwargs: object) -> object:
        nonlocal made
        made += 1
        return sampled(*args, **kwargs)  # type: ignore[arg-type]

    frames_module.sampled_frames = counted  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as home:
        clips = Path(home) / "clips"
        clips.mkdir()
        make_clips(clips, count)
        questions = Path(home) / "questions.csv"
        anchors = ",".join("abcde")
        head = "id,text,prompt,anchor_1,anchor_2,anchor_3,anchor_4,anchor_5\n"
        questions.write_text(head + "".join(f"q{n},Is it fine {n}?,no,{anchors}\n" for n in range(QUESTIONS)))
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        server = multiprocessing.get_context("spawn").Process(target=_run_endpoint, args=(theirs,), daemon=True)
        server.start()
        spec = f"openai:http://127.0.0.1:{ours.recv()}/v1#stub"
        before = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        given = {"questions": questions, "repeats": REPEATS, "frames": 4, "side": 64, "parallel": IN_FLIGHT}
        judge_clips(clips, judge=spec, run=Path(home) / "run", **given)  # type: ignore[arg-type]
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_SELF)
        grown = (after.ru_maxrss - before.ru_maxrss) / 1024
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ours.send("stop")
        served, mean, span = ours.recv()
        server.join(5)
    calls = count * QUESTIONS * REPEATS
    assert served == calls and made == count, (served, calls, made)
    how = (
        f"{count:,} clips × {QUESTIONS} questions × {REPEATS} repeats, 4 frames of 64 × 48 each, {IN_FLIGHT} requests "
        f"at a time; the endpoint answers after {1000 * ANSWER_S:.0f} ms and counts what it holds, over time."
    )
    rows = [
        (f"requests in flight, mean share of {IN_FLIGHT}", "≥ 90 %", f"{mean / IN_FLIGHT:.0%}"),
        ("calls", f"{calls:,}", f"{served:,} in {span:.1f} s of asking, {seconds:.1f} s in all"),
        ("processor time of a call, decoding included", "–", f"{1000 * busy / calls:.2f} ms"),
        ("clips decoded", f"{count:,}, each once", f"{made:,}"),
        ("memory above the start", "flat", f"{grown:.0f} MB"),
    ]
    loaded = f" Load average {os.getloadavg()[0]:.0f} while it ran." if os.getloadavg()[0] > 4 else ""
    record("judge", "Judge", rows, how=how + loaded)


if __name__ == "__main__":
    main()
