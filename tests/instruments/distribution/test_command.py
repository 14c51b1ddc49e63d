"""`rushes fvd` and `rushes models make-random` as a user types them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clips import noise, write_luma
from tests.present.terminal.on_terminal import command as typed
from tests.present.terminal.on_terminal import plain, seen
from tests.processes import ctrl_c, says, started
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from rushes.instruments.distribution.protocols import PROTOCOLS
from rushes.storage.runs import read_run

runner = CliRunner()


def call(*words: object, code: int = 0) -> Any:
    own = {"--protocol", "--extractor", "--self-test", "--explain"} & set(map(str, words))
    protocol = [] if own else ["--protocol", "genhoi"]  # which takes clips of any length
    result = runner.invoke(app, ["fvd", *map(str, words), *protocol])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def test_json_alone_on_stdout(sets: Path, random_weights: dict[str, Path], averages: list[Any]) -> None:
    result = call(
        sets / "gen",
        sets / "gt",
        "--metric",
        "fvd",
        "kvd",
        "--weights",
        *random_weights.values(),
        "--json",
        "--workers",
        0,
    )
    answer = json.loads(result.stdout)
    assert [m["signature"].partition("|")[0] for m in answer["measurements"]] == ["fvd", "kvd"]
    first = answer["measurements"][0]
    assert first["count"] == 10 and "interval" not in first
    file = random_weights["i3d"]  # the one that was taken: no metric here needs the other
    assert answer["weights"] == {file.name: "random-seed0"} and answer["weights_files"] == [str(file)]
    assert f"weights of i3d: {file} (random-seed0)" in result.stderr.splitlines()
    assert "random weights: this value is comparable only with values of the same weights" in first["note"]


def test_a_run_directory_with_its_path_last(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    words = [sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--workers", 0, "-o", tmp_path / "run"]
    result = call(*words, "--save-stats", tmp_path / "gt.npz", "-v")
    assert result.stdout.splitlines()[-1] == str(tmp_path / "run")
    assert "weights:random-seed0" in result.stdout and "Note: random weights" in result.stdout
    run = read_run(tmp_path / "run")
    assert run.status == "complete" and [s.id for s in run.subjects] == ["generated", "ground_truth"]
    assert run.subjects[0].facts["weights"] == {random_weights["i3d"].name: "random-seed0"}
    assert run.subjects[0].facts["clips"] == 5 and run.measurements["generated"][0].definition.name == "fvd"
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["measurements.jsonl", "run.json", "subjects.jsonl"]
    assert (tmp_path / "gt.npz").exists()


@pytest.mark.workers
def test_runs_have_the_same_bytes_for_any_workers(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    for workers in (0, 2):
        call(
            sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--workers", workers,
            "--interval", "jackknife", "-o", tmp_path / str(workers),
        )  # fmt: skip
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_an_interrupted_run_continues(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushes.instruments.distribution.features.cache import RecipeCache

    words = [sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--workers", 0, "-o", tmp_path / "run"]
    put = RecipeCache.put

    def stopping(self: Any, clip: Any, *features: Any) -> None:
        put(self, clip, *features)
        if clip.name == "take9.mp4":  # the third
            raise KeyboardInterrupt

    monkeypatch.setattr(RecipeCache, "put", stopping)
    assert call(*words, code=130).stderr.splitlines()[1:] == ["stopped; run the same command again to continue"]
    assert read_run(tmp_path / "run").status == "interrupted"
    monkeypatch.setattr(RecipeCache, "put", put)
    done = averages[0].segments
    averages.clear()
    call(*words)
    assert done >= 6 and averages[0].segments <= 18 - 6  # of both sets; the first three clips, six segments, were kept
    assert not (tmp_path / "run" / ".features").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--metric", "fad"], 2, "Did you mean `fvd` or `fid`?"),
        (["--protocol", "x"], 2, "'x' is not one of 'genhoi', 'disco'"),
        (["--backbone", "vgg"], 2, "no network is called 'vgg'; expected one of i3d"),
        (["--backbone", "r3d50", "--protocol", "cd-fvd"], 1, "does not define fvd on r3d50; these do: genhoi, disco"),
        (["--protocol", "cd-fvd", "--metric", "fid-vid"], 1, "does not define fid-vid"),
        (["--interval", "bootstrap"], 2, "'bootstrap' is not one of 'subsampling', 'jackknife'"),
        (["--device", "tpu"], 2, "'tpu' is not one of 'cpu', 'cuda'"),
        (["--save-stats", "x.txt"], 2, "ending in .npz"),
        (["--extrapolate"], 1, "extrapolation needs more clips than features"),
        (["--weights", "gone.pt"], 1, "gone.pt: expected a weights file"),
    ],
)
def test_one_clear_line_for_bad_options(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], words: list[str], code: int, message: str
) -> None:
    known = [] if "--weights" in words else ["--weights", str(random_weights["i3d"])]
    result = call(sets / "gen", sets / "gt", "--workers", 0, *known, *words, code=code)
    assert message in " ".join(result.output.replace("│", " ").split())
    assert "Traceback" not in result.output


def test_a_clip_left_out_is_named(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    folder = tmp_path / "gen"
    folder.mkdir()
    for path in (sets / "gen").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "broken.mp4").write_bytes(b"x")
    (folder / "notes.md").write_text("x")
    words = [folder, sets / "gt", "--weights", random_weights["i3d"], "--workers", 0]
    result = call(*words)
    assert "left out of the generated set" in result.stderr and "broken.mp4" in result.stderr
    assert "no part of the generated set: notes.md (not a clip by its ending, .md)" in result.stderr
    answer = json.loads(call(*words, "--json").stdout)
    assert answer["ignored"] == {"generated": {"notes.md": "not a clip by its ending, .md"}, "ground_truth": {}}
    assert "broken.mp4" in call(*words, "--strict", code=1).stderr


def test_long_lists_of_what_was_left_out_end_in_a_count(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    folder = tmp_path / "gen"
    folder.mkdir()
    (folder / "real").symlink_to(sets / "gen", target_is_directory=True)
    for number in range(7):
        (folder / f"bad{number}.mp4").write_bytes(b"x")
        (folder / f"n{number}.md").write_bytes(b"x")
    words = [folder, sets / "gt", "--weights", random_weights["i3d"], "--workers", 0]
    lines = call(*words, "-o", tmp_path / "run").stderr.splitlines()
    assert sum("left out of the generated set" in line and ".mp4" in line for line in lines) == 5
    assert "left out of the generated set: 2 more" in lines and "no part of the generated set: 2 more" in lines
    facts = read_run(tmp_path / "run").subjects[0].facts
    assert len(facts["excluded"]) == len(facts["ignored"]) == 7


def test_notes_are_not_cut_at_semicolons(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], make_clip: Callable[..., Path]
) -> None:
    folder = [make_clip(f"gen/{number}.mp4", 12) for number in (1, 2)][0].parent
    words = [folder, sets / "gt", "--weights", random_weights["i3d"], "--workers", 0]
    notes = " ".join(call(*words, "--protocol", "all").stdout.split()).split("Note: ")
    (said,) = [note for note in notes if "protocol cd-fvd needs 16" in note]
    assert said.startswith("a distance between sets needs at least two clips in each")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metric", "fvd", "fid-vid"], "weights for r3d50 are missing"),
        (["--extrapolate"], "extrapolation needs more clips than features: fvd more than 400 in each set"),
        (["--save-stats", "{file}/x.npz"], "file/x.npz: cannot be written (Not a directory)"),
        (
            ["--save-gen-stats", "{tmp}/folder.npz"],
            "folder.npz: expected a file to write; this is a folder",
        ),
        (["--cache", "{file}"], "cannot be used as a cache"),
        (["-o", "{file}"], "file: "),
    ],
)
def test_what_can_be_checked_is_checked_before_a_frame_is_decoded(
    sets: Path,
    random_weights: dict[str, Path],
    averages: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "folder.npz").mkdir()
    filled = [word.format(file=tmp_path / "file", tmp=tmp_path) for word in words]
    result = call(sets / "gen", sets / "gt", "--workers", 0, "--weights", random_weights["i3d"], *filled, code=1)
    assert message in result.stderr and not averages
    assert result.stderr.count("\n") == 1


def test_statistics_and_small_sets_are_looked_at_first(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    words = ["--workers", 0, "--weights", random_weights["i3d"]]
    call(sets / "gen", sets / "gt", *words, "--save-stats", tmp_path / "gt.npz", "--protocol", "disco")
    averages.clear()
    stderr = call(sets / "gen", tmp_path / "gt.npz", *words, code=1).stderr
    assert "made under another recipe: " in stderr and "cut is whole there and segments-repeat-last here" in stderr
    assert "vfr is constant there and not named here" in stderr
    (tmp_path / "junk.npz").write_bytes(b"junk")
    stderr = call(sets / "gen", tmp_path / "junk.npz", *words, code=1).stderr
    assert "(it is not an .npz archive, or holds Python objects); save them again" in stderr
    assert "allow_pickle" not in stderr
    one = sets / "gen" / "take3.mp4"
    assert "the generated set has 1" in call(one, sets / "gt", *words, code=1).stderr
    three = f"{sets}/gen/take[369].mp4"
    stderr = call(three, sets / "gt", *words, "--interval", "subsampling", code=1).stderr
    assert "a subsampling interval needs four clips in each set; there are 3 and 5" in stderr
    assert not averages


def test_a_missing_weights_file_leaves_no_run_behind(sets: Path, averages: list[Any], tmp_path: Path) -> None:
    call(sets / "gen", sets / "gt", "--weights", tmp_path / "gone.pt", "-o", tmp_path / "run", code=1)
    assert not (tmp_path / "run").exists()


def test_a_set_of_which_nothing_is_left_says_which_and_why(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.mp4").write_bytes(b"x")
    stderr = call(tmp_path, sets / "gt", "--workers", 0, "--weights", random_weights["i3d"], code=1).stderr
    assert "the generated set has 0 (4 left out: " in stderr and stderr.count("expected a video") == 3
    assert "and 1 more" in stderr


def test_values_stay_when_clips_drop_out_below_what_an_interval_needs(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "gen").mkdir()
    for name in ("take3.mp4", "take6.mp4"):
        (tmp_path / "gen" / name).symlink_to(sets / "gen" / name)
    (tmp_path / "gen" / "bad.mp4").write_bytes(b"x")
    words = ["--workers", 0, "--weights", random_weights["i3d"], "--interval", "jackknife", "--json"]
    (found,) = json.loads(call(tmp_path / "gen", sets / "gt", *words).stdout)["measurements"]
    assert found["value"] is not None and "interval" not in found
    assert "no interval: a jackknife interval needs three clips in each set; got 2 and 5" in found["note"]
    assert "sets of different size: 2 generated and 5 real clips" in found["note"]


def test_a_run_is_not_replaced_by_one_of_other_weights(
    sets: Path, averages: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (0, 1):
        write_random_checkpoint("i3d", tmp_path / str(seed) / "i3d_pretrained_400.pt", seed=seed)
    words = [sets / "gen", sets / "gt", "--workers", 0, "-o", tmp_path / "run"]
    monkeypatch.setenv("RUSHES_WEIGHTS", str(tmp_path / "0"))
    call(*words)
    before = (tmp_path / "run" / "measurements.jsonl").read_bytes()
    call(*words)
    monkeypatch.setenv("RUSHES_WEIGHTS", str(tmp_path / "1"))
    stderr = call(*words, code=1).stderr
    assert (
        "already contains a run with weights i3d " in stderr
        and '["' not in stderr
        and "use --overwrite to replace it" in stderr
    )
    assert (tmp_path / "run" / "measurements.jsonl").read_bytes() == before


_PAUSED = """
import sys, time
from rushes.instruments.distribution.features import extraction as features

class Waiting:
    preparation = None

    def features(self, segments):
        for segment in segments:
            print("reading", flush=True)
            time.sleep(600)
        yield

features.make_extractor = lambda *a, **k: Waiting()
from rushes.cli.main import main
main()
"""
"""The `rushes` command with decoders at work and a network that takes its time."""


def test_ctrl_c_at_a_terminal_is_one_line(sets: Path, random_weights: dict[str, Path], tmp_path: Path) -> None:
    """A terminal sends the signal to the whole group, decoding processes too."""
    words = ["fvd", sets / "gen", sets / "gt", "--weights", random_weights["i3d"], "--jobs", "2"]
    words += ["--protocol", "genhoi"]
    with started([sys.executable, "-c", _PAUSED, *map(str, words)], cwd=tmp_path) as running:
        says(running, "reading")
        said = ctrl_c(running).splitlines()
        assert said[0].startswith("weights of i3d: ") and said[1:] == ["stopped; nothing was kept"]
        assert running.returncode == 130


def test_make_random(tmp_path: Path) -> None:
    words = ["models", "make-random", "i3d", "--seed", "7", "-o", str(tmp_path / "w.pt")]
    assert json.loads(runner.invoke(app, [*words, "--json"]).stdout)["label"] == "random-seed7"
    assert runner.invoke(app, words).stdout.splitlines()[-1] == str(tmp_path / "w.pt")
    result = runner.invoke(app, ["models", "make-random", "vgg", "-o", "x"])
    assert result.exit_code == 2 and "i3d, r3d50, inception" in " ".join(result.output.split())


def test_the_fvd_of_two_sets_as_it_is_typed(
    tmp_path: Path, random_weights: dict[str, Path], averages: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One command, in a terminal of 80 columns: the value, the protocol and its paper in the first lines."""
    for seed, side in enumerate(("generated", "real")):
        for number in range(3):
            (tmp_path / side).mkdir(exist_ok=True)
            write_luma(tmp_path / side / f"{number}.mkv", noise(20, seed=10 * seed + number), "yuv420p")
    monkeypatch.chdir(tmp_path)
    words = ["fvd", "generated", "real", "--weights", str(random_weights["i3d"]), "--jobs", "0", "--device", "cpu"]
    shown = plain(seen(typed(*words), 80)).splitlines()
    first = " ".join(" ".join(shown[:4]).split())
    assert re.match(r"FVD \d\S* under stylegan-v \(Skorokhodov et al\. 2022\), 3 generated against 3 real", first), (
        first
    )
    assert "Note:" in " ".join(shown[:6]) and "padded" not in " ".join(shown)
    named = rushes.fvd("generated", "real", protocol="stylegan-v", weights=random_weights["i3d"], device="cpu", jobs=0)
    found = rushes.fvd("generated", "real", weights=random_weights["i3d"], device="cpu", jobs=0)
    assert found["fvd"].as_dict() == named["fvd"].as_dict()


@pytest.mark.parametrize("protocol", [None, *PROTOCOLS])
def test_every_protocol_is_explained(protocol: str | None) -> None:
    text = call("--explain", *(["--protocol", protocol] if protocol else [])).stdout
    for step in ("frames", "padding", "resize", "network", "covariance", "reference", "compares with"):
        assert f"\n  {step}" in text, step
    assert ("padded" in text) == (protocol == "genhoi") or protocol == "disco"
    assert "the default" in text if protocol in (None, "stylegan-v") else "The default is stylegan-v" in text


def test_a_subsampled_window_says_how_many_frames_a_clip_must_have() -> None:
    """16 frames, one in 8: a clip of fewer than 128 frames is left out (`least_frames`)."""
    text = " ".join(call("--explain", "--protocol", "stylegan-v-128-subsample8").stdout.split())
    assert "generated: 16 of the first 128 frames, one in 8; a shorter clip is left out and named" in text
    assert "real: 16 of 128 consecutive frames, one in 8, their start drawn by seed 0" in text
    plain = " ".join(call("--explain", "--protocol", "stylegan-v").stdout.split())
    assert "generated: the first 16 frames; a shorter" in plain and "real: 16 consecutive frames, their" in plain


def test_padding_is_never_silent(tmp_path: Path, random_weights: dict[str, Path], averages: list[Any]) -> None:
    """33 frames: two segments, and a third of one frame and 15 copies of it, under genhoi alone."""
    for seed, side in enumerate(("gen", "gt")):
        for number in range(2):
            (tmp_path / side).mkdir(exist_ok=True)
            write_luma(tmp_path / side / f"{number}.mkv", noise(33, seed=10 * seed + number), "yuv420p")
    options: dict[str, Any] = {"weights": random_weights["i3d"], "device": "cpu", "jobs": 0}
    found = rushes.fvd(tmp_path / "gen", tmp_path / "gt", protocol="genhoi", **options)
    assert any("padded by repeating the last frame (15 each)" in note for note in found.notes), found.notes
    assert "padded" not in repr(rushes.fvd(tmp_path / "gen", tmp_path / "gt", **options))
