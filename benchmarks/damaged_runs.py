"""Every file of a run damaged in turn, under every command that reads runs: refused in one line, or the same answer.

    python benchmarks/damaged_runs.py [--flips 3] [--seed 1] [--only shards]

A suite of two systems is measured once, in one piece and in shards. Then each of its files is cut, emptied, filled with
NUL, removed, or has one bit flipped, and each command is asked again. What it says must be what it said of the sound
files, or one line that names what is wrong. Anything else is a finding, and the script ends with 1. Used by the tests,
for a few cases in `make test` and all of them in `make soak`.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.media import write_clip
from rushes.workers.engine import inline_work

SYSTEMS = ("amber", "birch")
CLIPS = 4
GET = "GET"
"""Instead of a command's name: a page of `rushes view` over the suite's folder, as JSON."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "query clips": ("query", "{run}", "select * from clips", "--json"),
    "query measurements": ("query", "{run}", "select * from measurements", "--csv"),
    "export csv": ("export", "{run}", "-o", "{out}/table.csv"),
    "export folder": ("export", "{run}", "-o", "{out}/folder"),
    "report": ("report", "{run}", "-o", "{out}/report.html"),
    "verify": ("verify", "{run}"),
    "compare": ("compare", "{run}", "{other}", "--json"),
    "compare page": ("compare", "{other}", "{run}", "-o", "{out}/compare.html"),
    "gate baseline": ("gate", "{run}", "{other}", "--metric", "blur_score:5%", "-o", "{out}/gate.html"),
    "gate candidate": ("gate", "{other}", "{run}", "--metric", "blur_score:5%"),
    "board": ("board", "amber={run}", "birch={other}", "-o", "{out}/board.html"),
    "board suite": ("board", "{suite}", "-o", "{out}/board.md"),
    "table": ("table", "{suite}", "-o", "{out}/table.tex"),
    "believe": ("believe", "{suite}", "--json"),
    "failures": ("failures", "{suite}", "--by", "blur_score", "-o", "{out}/failures.html"),
    "figure": ("figure", "scatter", "{suite}", "-o", "{out}/scatter.svg"),
    "log": ("log", "{run}", "--to", "tensorboard:{away}/log", "--no-report", "--worst", "0", "--json"),
    "study create": ("study", "create", "takes", "{suite}", "--db", "{away}/studies.db", "--alike", "off"),
    "study of runs": ("study", "create", "takes", "{run}", "{other}", "--db", "{away}/studies.db", "--alike", "off"),
    "view home": (GET, "/home.json"),
    "view run": (GET, "/runs/amber/clip"),
    "view clip": (GET, "/runs/amber/clip/clip?id=p1"),
    "view filter": (GET, "/runs/amber/clip?q=blur_score%3E0"),
    "view board": (GET, "/boards/out"),
    "view comparison": (GET, "/compare/runs?a=amber%2Fclip&b=birch%2Fclip"),
    "view grid": (GET, "/grid?runs=amber%2Fclip%2Cbirch%2Fclip"),
}
"""Each leaves the files it reads as they are. What goes into `away` has times in it and is not compared."""
_OF_SERIES = {"report", "compare page", "board", "view clip"}
"""Pages that lack a timeline where a clip's series are damaged, and show every number; `verify` names the file."""
_TOKEN = "t" * 43
_SECRET = re.compile(r'"/(?:clips|thumbnails|grid/pictures)/[^"]*"|"stamp": ?"[^"]*"')
"""What differs each time a page is asked for: addresses of files and pictures."""
_DAMAGED = re.compile(r'"status": ?"(?:damaged|cannot be read|not found)"')
"""What a list of runs and boards says of one; a folder without its file is none, and is not listed."""
_TIMES = re.compile(rb'"(?:started|finished)": ?"[^"]*"')


@dataclass(frozen=True, slots=True)
class Answer:
    """What one command came to."""

    code: int
    text: str
    files: Mapping[str, bytes]
    errors: str
    trace: str
    """Of an exception that the command let through; "" where there was none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that is neither refused in one line nor the same."""

    file: str
    damage: str
    command: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}, {self.damage}, {self.command}: {self.what}"


def damages(data: bytes, rng: random.Random, flips: int) -> Iterator[tuple[str, bytes | None]]:
    """The ways in which a file is damaged: a name for each, and what it then holds; None where it is gone."""
    yield "removed", None
    yield "empty", b""
    yield "cut", data[: len(data) // 2]
    yield "all NUL", bytes(len(data))
    for _ in range(flips if data else 0):
        place, bit = rng.randrange(len(data)), rng.randrange(8)
        yield f"bit {bit} of byte {place}", data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def make_suite(folder: Path, *, shards: int) -> Path:
    """A suite of two systems over the same prompts with ratings, measured; its result is `folder/out`."""
    for place, system in enumerate(SYSTEMS):
        (folder / system).mkdir(parents=True)
        for number in range(CLIPS):
            rng = np.random.default_rng([place, number])
            still = rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)
            frames = [np.roll(still, (2 + place) * step, axis=1) for step in range(8)]
            write_clip(folder / system / f"p{number}.mp4", frames)
    rows = [
        f"p{n},{s},r{r},{(n + r + place) % 5 + 1}"
        for n in range(CLIPS)
        for place, s in enumerate(SYSTEMS)
        for r in (0, 1)
    ]
    (folder / "ratings.csv").write_text("\n".join(["prompt_id,system,rater,quality", *rows]) + "\n")
    lines = "".join(f'{system} = "{system}"\n' for system in SYSTEMS)
    (folder / "suite.toml").write_text(
        f'name = "damaged"\n[systems]\n{lines}[ratings]\nfile = "ratings.csv"\n[instruments.clip]\n'
    )
    with inline_work():
        done = CliRunner().invoke(app, ["suite", "run", str(folder / "suite.toml"), "-o", str(folder / "out")])
        assert done.exit_code == 0, done.output
        for run in runs(folder / "out") if shards else ():
            shutil.rmtree(run)
            arguments = ["clip", str(folder / run.parent.name), "--shards", str(shards), "-o", str(run)]
            assert CliRunner().invoke(app, arguments).exit_code == 0
    return folder / "out"


def runs(suite: Path) -> list[Path]:
    """The folders of the suite's clip runs, in the systems' order."""
    return sorted(path.parent for path in suite.rglob("run.json") if "clip" in path.parent.name)


def ask(command: str, suite: Path, out: Path) -> Answer:
    """What a command says of a suite's folder, and what it writes, with this machine's folders taken out."""
    if COMMANDS[command][0] == GET:
        return _page(COMMANDS[command][1], suite)
    out.mkdir()
    first, second = (str(run) for run in runs(suite)[:2]) if len(runs(suite)) == 2 else _guessed(suite)
    places = {"run": first, "other": second, "suite": str(suite), "out": str(out)}
    with inline_work(), tempfile.TemporaryDirectory() as away:
        places["away"] = away
        done = CliRunner().invoke(app, [word.format(**places) for word in COMMANDS[command]])
    fault = done.exception
    trace = "" if fault is None or isinstance(fault, SystemExit) else "".join(traceback.format_exception(fault))
    files = {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    shutil.rmtree(out)
    return Answer(
        done.exit_code,
        _plain(done.stdout, suite).replace(away, ""),
        {n: _plain_bytes(d, suite) for n, d in files.items()},
        done.stderr,
        trace,
    )


def _page(address: str, suite: Path) -> Answer:
    """What `rushes view` answers, as a program asks: a refusal is code 1, with its words where a command has them."""
    from starlette.testclient import TestClient

    from rushes.web.view_app import view_app

    given = {"accept": "application/json"}
    with TestClient(view_app([suite], token=_TOKEN), base_url="http://127.0.0.1", headers=given) as client:
        try:
            client.get(f"/?token={_TOKEN}")
            reply = client.get(address)
        except Exception as fault:
            return Answer(1, "", {}, "", "".join(traceback.format_exception(fault)))
    if reply.status_code >= 500:
        return Answer(1, "", {}, "", f"status {reply.status_code}: {reply.text[:200]}")
    if reply.status_code >= 400:
        return Answer(1, "", {}, f"rushes: {reply.text}", "")
    return Answer(0, _SECRET.sub("", _plain(reply.text, suite)), {}, "", "")


def _guessed(suite: Path) -> tuple[str, str]:
    return str(suite / SYSTEMS[0] / "clip"), str(suite / SYSTEMS[1] / "clip")


def _plain(text: str, suite: Path) -> str:
    return text.replace(str(suite.parent), "")


def _plain_bytes(data: bytes, suite: Path) -> bytes:
    return _TIMES.sub(b"", data.replace(str(suite.parent).encode(), b""))


def judge(command: str, file: str, sound: Answer, got: Answer) -> str:
    """What is wrong with an answer about damaged files; "" where nothing is."""
    if got.trace:
        return f"a traceback: {got.trace.strip().splitlines()[-1]}"
    same = (got.code, got.text, got.files) == (sound.code, sound.text, sound.files)
    if same:
        return ""
    if command == "verify" and (got.code, sound.code) == (1, 0) and got.text:
        return ""
    if command == "view home" and (_DAMAGED.search(got.text) or file.endswith(("run.json", "suite.json"))):
        return ""
    if ("/series/" in file or file.endswith(".series")) and command in _OF_SERIES and got.code == sound.code:
        return ""
    lines = [line for line in got.errors.splitlines() if line.startswith("rushes: ")]
    if got.code == 1 and lines:
        return ""
    if got.code == 2:
        return f"a usage error: {got.errors.strip().splitlines()[-1:]}"
    return f"another answer without a word (exit code {got.code}, {sound.code} of the sound files)"


def cases(suite: Path, flips: int, seed: int) -> Iterator[tuple[str, str, bytes | None]]:
    """Every file of the first run and of the suite itself, and each way in which it is damaged."""
    rng = random.Random(seed)
    first = runs(suite)[0]
    files = [path for path in sorted(first.rglob("*")) if path.is_file() and path.name != ".lock"]
    files += [path for path in sorted(suite.iterdir()) if path.is_file() and path.name != ".lock"]
    for path in files:
        for name, data in damages(path.read_bytes(), rng, flips):
            yield path.relative_to(suite).as_posix(), name, data


def findings(
    suite: Path, scratch: Path, *, flips: int, seed: int = 1, only: Callable[[str, str, str], bool] = lambda *_: True
) -> Iterator[Finding | None]:
    """Each case that `only` (file, damage, command) picks: what is wrong with it, or None."""
    sound: dict[str, Answer] = {}
    for number, (file, damage, data) in enumerate(cases(suite, flips, seed)):
        chosen = [command for command in COMMANDS if only(file, damage, command)]
        for turn, command in enumerate(chosen):
            if command not in sound:
                sound[command] = ask(command, _copied(suite, scratch / f"sound-{len(sound)}"), scratch / "made")
            if turn == 0:
                copy = _copied(suite, scratch / f"case-{number}-{turn}")
                target = copy / file
                target.unlink() if data is None else target.write_bytes(data)
            wrong = judge(command, file, sound[command], ask(command, copy, scratch / "made"))
            found = Finding(file, damage, command, wrong) if wrong else None
            if found:
                print(found, flush=True)
            yield found
        for folder in scratch.glob(f"case-{number}-*"):
            shutil.rmtree(folder)


def _copied(suite: Path, home: Path) -> Path:
    """A copy of the suite with its clips: a file that is read once more under the same name might be remembered."""
    shutil.copytree(suite.parent, home)
    return home / suite.name


def main() -> int:
    """Ask everything, write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("one-piece", "shards"), default=None)
    asked = parser.parse_args()
    began, rows, found = time.process_time(), [], []
    for kind, shards in (("one-piece", 0), ("shards", 3)):
        if asked.only in (None, kind):
            with tempfile.TemporaryDirectory() as name:
                suite = make_suite(Path(name) / "material", shards=shards)
                scratch = Path(name) / "scratch"
                scratch.mkdir()
                answers = list(findings(suite, scratch, flips=asked.flips, seed=asked.seed))
            wrong = [str(one) for one in answers if one is not None]
            found += [f"{kind}: {line}" for line in wrong]
            rows.append(
                (f"commands on a damaged suite, {kind}", "all refused or equal", f"{len(answers)}, {len(wrong)} not")
            )
    rows.append(("seconds of the processor", "–", f"{time.process_time() - began:.0f}"))
    print("\n".join(found))
    how = f"`damaged_runs.py --flips {asked.flips}`: each file cut, emptied, all NUL, removed, one bit flipped."
    if asked.only is None:
        from recording import record  # beside this script; the tests, which take the rest of it, have another path

        record("damaged", "Fault injection: damaged files", rows, how=how)
    print(rows)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
