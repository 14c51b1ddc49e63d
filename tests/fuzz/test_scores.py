"""Whatever a file of ratings, battles, scores or VBench's results holds, reading it ends in a result or in one line."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from tests.fuzz.test_files import DEEP, damaged, plain

from rushes.compare.agreement.human_scores import read_human_scores
from rushes.core.errors import RushesError
from rushes.study.exchange.arena import read_arena
from rushes.suite.imports.definitions import parse_definition, read_definitions
from rushes.suite.imports.scores import import_table
from rushes.suite.imports.vbench_results import import_vbench

RATINGS = b"prompt_id,system,rater,quality\np0,amber,r0,4\np1,amber,r0,3\np0,birch,r1,2\n"
MEANS = b"clip,mos,std,n\na.mp4,4.1,0.2,12\nb.mp4,3,0.1,12\n"
VOTES = b"question_id,model_a,model_b,winner,judge\np0,amber,birch,model_a,j\np0,birch,amber,tie,k\n"
TOML = b'[clip_score]\nunit = "1"\nbetter = "higher"\nlowest = 0\nparams = {model = "b"}\n'
RESULTS = b'{"scene": [0.5, [{"video_path": "a/x-0.mp4", "video_results": true}]], "color": [0.25, []]}'
COLUMN = [parse_definition("quality:unit=1,better=higher")]
few = settings(max_examples=60)


def read(name: str, content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        readers = {
            "ratings.csv": [read_human_scores, lambda p: import_table(p, Path(folder) / "runs", COLUMN)],
            "votes.json": [read_arena, read_human_scores],
            "x_eval_results.json": [lambda p: import_vbench([p], Path(folder) / "runs")],
            "d.toml": [read_definitions],
        }
        for reader in readers[name]:
            try:
                reader(path)
            except RushesError as error:
                assert len(str(error).splitlines()) == 1, str(error)


@few
@given(damaged(RATINGS) | damaged(MEANS) | damaged(VOTES))
@example(b"")
@example(b"clip,mos\n")
@example(b"system,quality\n\x00,1\n")
@example(b"system,prompt_id,quality\na,p,1e999\n")
def test_tables(content: bytes) -> None:
    read("ratings.csv", content)


@few
@given(plain("model_a", "model_b", "winner", "tie").map(lambda data: json.dumps(data).encode()))
@example(DEEP.encode())
@example(b'[{"model_a": null, "model_b": [], "winner": {}}]')
@example(b'[{"model_a": [], "model_b": [], "winner": 1}, {"model_a": "a", "model_b": "b", "winner": "tie"}]')
@example(b"\xff")
def test_battles(content: bytes) -> None:
    read("votes.json", content)


@few
@given(plain("scene", "color", "video_path").map(lambda data: json.dumps({"scene": data}).encode()) | damaged(RESULTS))
@example(DEEP.encode())
@example(b'{"scene": [1e400, []]}')
@example(b'{"scene": [0.1, [{"video_path": "\\u0000", "video_results": 0.1}]]}')
@example(b'{"scene": [' + b"9" * 400 + b", []]}")
def test_results(content: bytes) -> None:
    read("x_eval_results.json", content)


@few
@given(damaged(TOML))
@example(b'[a]\nunit = 1\nbetter = ["higher"]\n')
@example(b'[a]\nunit = "1"\nbetter = "higher"\nraised_by = 3\n')
@example(b'[a]\nunit = "1"\nbetter = "higher"\nparams = {V = [1], "a b" = 2}\n')
@example(b'[a]\nunit = "x|y"\nbetter = "higher"\n')
def test_definitions(content: bytes) -> None:
    read("d.toml", content)


@pytest.mark.parametrize("text", ["", ":", "a:", "a:b=c", "a:unit=1,better=higher,lowest=nan", "é:unit=1,better=lower"])
def test_declarations(text: str) -> None:
    try:
        parse_definition(text)
    except RushesError as error:
        assert len(str(error).splitlines()) == 1
