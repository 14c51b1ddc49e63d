"""200 raters at once against the study service, on SQLite and on PostgreSQL: how long each request takes, none lost.

    python benchmarks/bench_study.py [--raters 200] [--postgres URL]

Raters are threads that watch for as long as the clips last, as people do, and send a report a second. The figures are
the service's own, without HTTP.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from recording import record
from rushes.media import write_clip
from rushes.study import Accepted, PlayEvent, StudyPlan, StudyService, VoteForm, open_service
from rushes.study.material.sources import from_csv

PAIRS = 300
CLIP_MS = 4000
REPORT_EVERY_S = 1.0


def make_study(service: StudyService, folder: Path) -> None:
    rows = ["sample_id,task_id,prompt_id,system,path"]
    for system, value in (("alpha", 40), ("beta", 90)):
        for number in range(4):
            frames = (np.full((16, 16, 3), value + number, np.uint8) for _ in range(CLIP_MS // 40))
            write_clip(folder / f"{system}{number}.mp4", frames, fps=25)
    for pair in range(PAIRS):
        rows += [f"s{pair},T{1 + pair % 6},{pair},{s},{s}{pair % 4}.mp4" for s in ("alpha", "beta")]
    (folder / "clips.csv").write_text("\n".join(rows) + "\n")
    plan = StudyPlan(name="bench", gold_every=0)
    service.create_study(plan, training=False, clips=from_csv(folder / "clips.csv"))


class Rater(threading.Thread):
    """One person: signs in, watches both clips twice, votes, until the time is up."""

    def __init__(self, service: StudyService, token: str, until: float, times: dict[str, list[float]]) -> None:
        super().__init__(daemon=True)
        self.service, self.token, self.until, self.times = service, token, until, times
        self.accepted: list[int] = []
        self.failure: BaseException | None = None
        self.sequence = 0

    def timed(self, name: str, call: Callable[..., Any], *given: object, **named: object) -> Any:
        begun = time.perf_counter()
        answer = call(*given, **named)
        self.times[name].append((time.perf_counter() - begun) * 1000)
        return answer

    def run(self) -> None:
        try:
            time.sleep(random.random() * 4)
            service = self.service
            session = self.timed("accept_invite", service.accept_invite, self.token).token
            self.timed("give_consent", service.give_consent, session)
            while time.monotonic() < self.until:
                task = self.timed("next_task", service.next_task, session)
                if task is None:
                    return
                self.timed("next_task ahead", service.next_task, session, ahead=1)
                self.watch(session, task.assignment)
                ratings = {name: 3 for name in task.dimensions}
                winner = random.choice(["A", "B"])
                form = VoteForm(winner=winner, primary_tag=task.tags[0], ratings_a=ratings, ratings_b=ratings)
                self.timed("save_draft", service.save_draft, session, task.assignment, form)
                answer = self.timed("submit_vote", service.submit_vote, session, task.assignment, form, key="k")
                assert isinstance(answer, Accepted), answer
                self.accepted.append(answer.vote)
        except BaseException as error:  # reported by the main thread
            self.failure = error

    def watch(self, session: str, assignment: str) -> None:
        for _ in range(2):
            for second in range(int(CLIP_MS / 1000 / REPORT_EVERY_S)):
                time.sleep(REPORT_EVERY_S)
                start = second * REPORT_EVERY_S * 1000
                events = []
                for side in ("A", "B"):
                    self.sequence += 1
                    end = start + REPORT_EVERY_S * 1000
                    events.append(PlayEvent(side=side, start_ms=start, end_ms=end, sequence=self.sequence))
                self.timed("record_play", self.service.record_play, session, assignment, events)


def measure(target: str | Path, folder: Path, raters: int, seconds: float) -> tuple[dict[str, list[float]], int, int]:
    times: dict[str, list[float]] = defaultdict(list)
    with open_service(target, media=folder / "media") as service:
        make_study(service, folder)
        until, cpu = time.monotonic() + seconds, time.process_time()
        people = [Rater(service, one.token, until, times) for one in service.invite("bench", count=raters)]
        for person in people:
            person.start()
        for person in people:
            person.join()
        times["cpu"] = [(time.process_time() - cpu) * 1000]
        failures = [person.failure for person in people if person.failure is not None]
        if failures:
            raise SystemExit(f"{len(failures)} raters failed; the first: {failures[0]!r}")
        accepted = sorted(vote for person in people for vote in person.accepted)
        with service.database.read() as connection:
            stored = sorted(row[0] for row in connection.exec_driver_sql("SELECT id FROM vote"))
    if stored != accepted:
        raise SystemExit(f"{len(accepted)} votes were acknowledged, {len(stored)} are stored")
    return times, len(accepted), sum(map(len, times.values())) - 1


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--postgres", help="URL of an empty database")
    asked = parser.parse_args()
    rows = []
    for name in ("SQLite", *(["PostgreSQL"] if asked.postgres else [])):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            target = folder / "studies.db" if name == "SQLite" else asked.postgres
            times, votes, requests = measure(target, folder, asked.raters, asked.seconds)
        cpu = times.pop("cpu")[0]
        rows.append((f"{name}: processor time a request", "–", f"{cpu / requests:.2f} ms, raters' own work included"))
        for call, values in sorted(times.items()):
            rows.append(
                (
                    f"{name}: {call}, p95 of {len(values)}",
                    "< 150 ms",
                    f"{percentile(values, 0.95):.1f} ms (median {statistics.median(values):.1f})",
                )
            )
        rows.append((f"{name}: votes acknowledged and stored", "all", f"{votes} of {votes}, {requests} requests"))
    how = f"{asked.raters} raters in threads, each sending one play report a second and a vote every 8 s, no HTTP."
    record("study", f"The study service under {asked.raters} raters", rows, how=how)


if __name__ == "__main__":
    main()
