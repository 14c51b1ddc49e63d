"""The two command lists of docs/evaluation-section.md: on the published clips (soak), and on made clips (every time).

Every command is run as it stands on the page. On made clips, columns that need a network are replaced by others.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.media import write_clip
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

PAGE = Path(__file__).parents[2] / "docs" / "evaluation-section.md"
PAPER = r"""\documentclass[{columns}]{{article}}\usepackage{{booktabs}}\usepackage[margin=0.75in]{{geometry}}
\begin{{document}}{tables}\end{{document}}"""
SYSTEMS = {
    "fetv": ("ground-truth", "modelscope", "zeroscope"),
    "adth": ("ground-truth", "ad-nerf", "wav2lip"),
}
CLIPS = {"fetv": ("p001", "p023", "p122"), "adth": ("obama", "french", "ger1")}


def commands(name: str) -> list[list[str]]:
    """The block of the page that begins with this suite."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if block.startswith(f"rushes suite init {name} ")]
    return [shlex.split(line)[1:] for line in block.splitlines()]


def run(words: list[str]) -> str:
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, (words, answer.output)
    written = words[words.index("-o") + 1]
    assert Path(written).exists(), words
    return answer.output


def compiled(folder: Path) -> None:
    """All tables in one and in two columns, without an overfull box."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed: the commands ran, their tables were not set")
    tables = "\n".join(rf"\input{{{path.name}}}" for path in sorted(folder.glob("table-*.tex")))
    for columns in ("onecolumn", "twocolumn"):
        (folder / "paper.tex").write_text(PAPER.format(columns=columns, tables=tables))
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "paper.tex"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and "Overfull" not in done.stdout, done.stdout[-3000:]


@pytest.mark.parametrize("name", ["fetv", "adth"])
def test_a_section_is_ten_commands(name: str) -> None:
    assert len(commands(name)) <= 10


@pytest.mark.soak
@pytest.mark.parametrize("name", ["fetv", "adth"])
def test_on_the_published_clips(name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not all(is_pulled(group_named(group)) for group in ("lpips", "face", "face-id", "i3d")):
        pytest.skip("needs rushes models pull lpips face face-id i3d")
    monkeypatch.chdir(tmp_path)
    Path(name).symlink_to(shared / "suites" / name)
    for words in commands(name):
        run(words)
    text = run(["table", "results", "--columns", "fvd,diff:head_motion" if name == "adth" else "fvd", "-o", "t.csv"])
    rows = [line.split(",") for line in Path("t.csv").read_text().splitlines()[1:] if "ground-truth" not in line]
    assert all(float(row[2]) > 0 for row in rows) and "not measured" not in text
    if name == "adth":  # the one system that animates a still picture is furthest from how the people move
        moved = {row[0]: float(row[2]) for row in rows if row[1] == "diff:head_motion"}
        assert max(moved, key=lambda system: moved[system]) == "wav2lip"
    compiled(tmp_path)


def _made(home: Path, name: str) -> None:
    """Clips whose noise grows from system to system, and what people said of them."""
    for place, system in enumerate(SYSTEMS[name]):
        (home / name / system).mkdir(parents=True)
        for n, clip in enumerate(CLIPS[name]):
            draw = np.random.default_rng([place, n])
            ramp = np.linspace(30, 200, 128)[None, :, None] + np.zeros((96, 1, 3))
            frames = [
                np.roll(ramp, 3 * t, 1) + draw.uniform(-1 - 9 * place, 1 + 9 * place, ramp.shape) for t in range(6)
            ]
            write_clip(home / name / system / f"{clip}.mp4", np.clip(np.stack(frames), 0, 255).astype(np.uint8), fps=10)
    if name == "fetv":
        rated = [
            f"{clip},{system},r{rater},{5 - place},{5 - place},{4 - (n + rater + place) % 3}"
            for n, clip in enumerate(CLIPS[name])
            for place, system in enumerate(SYSTEMS[name])
            for rater in range(3)
        ]
        head = "prompt_id,system,rater,static_quality,temporal_quality,alignment"
        (home / name / "ratings.csv").write_text("\n".join([head, *rated]) + "\n")
        return
    voted = [
        f"{question},{clip},{one},{other},{9 - n % 3},{3 + n % 2}"
        for question in ("lip", "head", "render")
        for n, clip in enumerate(CLIPS[name])
        for one, other in [("ad-nerf", "wav2lip")]
    ]
    (home / name / "votes.csv").write_text(
        "\n".join(["question,speaker,system_a,system_b,votes_a,votes_b", *voted]) + "\n"
    )


INSTEAD = {
    "fvd": "",
    "lpips": "",
    "csim": "",
    "lmd": "",
    "mouth_audio_margin": "",
    "head_motion": "luma_diff",
    "diff:head_motion": "diff:sharpness",
    "diff:blink_rate_hz": "diff:luma_alternation",
}
"""What stands in for columns that need a network."""


def _without_networks(words: list[str]) -> list[str]:
    def other(word: str) -> str:
        names = [INSTEAD.get(name, name) for name in word.split(",")]
        return ",".join(filter(None, names))

    return [
        other(w) if before in ("--columns", "--metrics", "--against") else w
        for before, w in zip(["", *words[:-1]], words, strict=True)
    ]


def _networks_removed(file: Path) -> None:
    """The suite file without the instruments and the tier that need networks."""
    text = re.sub(r"\n\[instruments\.(faces|distribution)\].*?(?=\n\[|\n#|\Z)", "", file.read_text(), flags=re.DOTALL)
    text = re.sub(r"tier = 1.*", "", text.replace('profile = "talking-head"', 'profile = "general"'))
    file.write_text(text.replace('"head_motion", "blink_rate_hz"', '"sharpness", "luma_alternation"'))


@pytest.mark.parametrize("name", ["fetv", "adth"])
def test_on_made_clips(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _made(tmp_path, name)
    said = ""
    for words in commands(name):
        said += run(_without_networks(words))
        if words[:2] == ["suite", "init"]:
            _networks_removed(Path(f"{name}.toml"))
    for banned in ("cannot be told", "held against", "told apart", "surely", "Traceback"):
        assert banned not in said
    assert "diff:sharpness" in Path("table-agreement.tex").read_text() or name == "fetv"
    compiled(tmp_path)
