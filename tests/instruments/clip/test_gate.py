"""The gate: a rule that nobody could check does not hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clips import flat, noise, tone, write_luma, write_sound
from typer.testing import CliRunner, Result

import rushes
from rushes.cli.main import app
from rushes.instruments.clip.settings import needed_tier
from rushes.instruments.clip.signals.gate import check_gate
from rushes.instruments.clip.signals.profile import Profile, load_profile, parse_profile


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def profile(text: str, folder: Path) -> Path:
    file = folder / "own.toml"
    file.write_text(f'name = "own"\n{text}\n')
    return file


@pytest.fixture
def take(tmp_path: Path) -> Path:
    return write_luma(tmp_path / "take.mkv", noise(6, size=(64, 48)), "gray")


def test_a_rule_of_a_higher_tier_is_not_judged_and_the_gate_does_not_hold(take: Path, tmp_path: Path) -> None:
    gate = ["clip", take, "--profile", "talking-head", "--tier", 0, "--jobs", 1, "-o", tmp_path / "run"]
    assert command(*gate).exit_code == 0, "without a gate nothing fails"
    done = command(*gate, "--fail-on", "reject")
    assert done.exit_code == 1
    says = "--fail-on reject: not judged: face_present_ratio (1 clip: it needs tier 1); "
    assert done.stderr == f"{says}--allow-unjudged lets them through\n"
    allowed = command(*gate, "--fail-on", "reject", "--allow-unjudged")
    assert allowed.exit_code == 0 and "let through by --allow-unjudged" in allowed.stderr


def test_only_rules_at_the_level_of_the_gate_count(tmp_path: Path) -> None:
    one = write_luma(tmp_path / "one.mkv", [flat(9)], "gray")  # one frame: no step, so nothing to be frozen
    rules = profile("[reject]\ndecode_ok = { is = false }\n[flagged]\nfreeze_frame_ratio = { above = 0.3 }", tmp_path)
    gate = ["clip", one, "--profile", rules, "--jobs", 1, "-o", tmp_path / "run", "--fail-on"]
    assert command(*gate, "reject").exit_code == 0
    done = command(*gate, "flagged")
    assert done.exit_code == 1 and "freeze_frame_ratio (1 clip: " in done.stderr


def test_a_clip_without_sound_has_no_sound_that_could_be_wrong(take: Path, tmp_path: Path) -> None:
    """av_duration_delta_ms is a reject rule; asked for with --audio and not there, it could not be judged."""
    gate = ["clip", take, "--fail-on", "reject", "--jobs", 1, "-o"]
    assert command(*gate, tmp_path / "silent").exit_code == 0
    (tmp_path / "speech").mkdir()
    done = command(*gate, tmp_path / "missing", "--audio", tmp_path / "speech")
    assert done.exit_code == 1 and "av_duration_delta_ms (1 clip: no sound for 'take'" in done.stderr
    write_sound(tmp_path / "speech" / "take.wav", tone(0.24)[None])
    assert command(*gate, tmp_path / "there", "--audio", tmp_path / "speech").exit_code == 0


def test_a_clip_that_is_caught_is_3_whatever_was_not_judged(take: Path, tmp_path: Path) -> None:
    write_luma(tmp_path / "frozen.mkv", noise(1, size=(64, 48)) * 6, "gray")
    rules = profile("[flagged]\nfreeze_frame_ratio = { above = 0.3 }\nface_present_ratio = { below = 0.2 }", tmp_path)
    done = command("clip", tmp_path, "--profile", rules, "--tier", 0, "-o", tmp_path / "r", "--fail-on", "flagged")
    assert done.exit_code == 3
    assert "--fail-on flagged: 1 of 2 clips is flagged or rejected" in done.stderr
    assert "face_present_ratio (1 clip: it needs tier 1)" in done.stderr


def test_what_does_not_decode_is_not_through_under_any_profile(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    rules = profile("[flagged]\nblur_score = { below = 20 }", tmp_path)
    done = command("clip", tmp_path / "empty.mp4", "--profile", rules, "-o", tmp_path / "r", "--fail-on", "reject")
    assert done.exit_code == 3


def test_in_python(take: Path, tmp_path: Path) -> None:
    run = rushes.evaluate_clips(take, run=tmp_path / "run", profile="talking-head", tier=0, jobs=1)
    found = check_gate(run, load_profile("talking-head"), "reject")
    assert found.caught == () and found.unjudged == {"face_present_ratio": (("take", "it needs tier 1"),)}
    assert check_gate(run, load_profile("general"), "flagged").unjudged == {}


@pytest.mark.parametrize(
    ("rules", "files", "tier"),
    [
        ("[flagged]\nblur_score = { below = 20 }", {}, 0),
        ("[flagged]\nblink_count = { below = 1 }", {}, 1),
        ("[flagged]\nlse_c = { below = 3 }", {}, 2),
        ("", {"metrics": ["face_present_ratio"]}, 1),
        ("", {"face_model": "x.task"}, 1),
        ("", {"syncnet_weights": "x.model"}, 2),
        ("", {}, 0),
    ],
)
def test_the_tier_that_a_profile_needs(rules: str, files: dict[str, object], tier: int) -> None:
    own: Profile = parse_profile(f'name = "own"\n{rules}', source="own.toml")
    assert needed_tier(own, **files) == tier  # type: ignore[arg-type]


@pytest.fixture
def run_of_two(take: Path, tmp_path: Path) -> Path:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    assert command("clip", take, tmp_path / "bad.mp4", "--jobs", 1, "-o", tmp_path / "run").exit_code == 0
    return tmp_path / "run"


def test_a_run_is_judged_as_its_clips_are(run_of_two: Path, tmp_path: Path) -> None:
    done = command("clip", run_of_two, "--fail-on", "reject", "--junit", tmp_path / "x.xml")
    assert done.exit_code == 3 and "--fail-on reject: 1 of 2 clips is rejected" in done.stderr
    assert (tmp_path / "x.xml").is_file()
    again = command("clip", run_of_two, "-o", tmp_path / "other")
    assert again.exit_code == 1 and "this is a run, which is judged again" in again.stderr


def test_a_run_under_another_profile_equals_its_clips_measured_under_it(
    run_of_two: Path, take: Path, tmp_path: Path
) -> None:
    """The oracle is the clip measured anew under that profile: same signals, same reasons, same rules not judged."""
    rules = profile("[flagged]\nblur_p10 = { below = 1e9 }\nface_present_ratio = { below = 0.2 }", tmp_path)
    anew = command(
        "clip", take, tmp_path / "bad.mp4", "--profile", rules, "--tier", 0, "-o", tmp_path / "new", "--json"
    )
    again = command("clip", run_of_two, "--profile", rules, "--json")
    expected, found = (json.loads(done.stdout)["clips"] for done in (anew, again))
    assert [(c["badge"], c["reasons"], c["facts"]) for c in found] == [
        (c["badge"], c["reasons"], c["facts"]) for c in expected
    ]
    assert [c["badge"] for c in found] == ["flagged", "reject"], "decode sanity holds under every profile"
    assert json.loads((run_of_two / "run.json").read_text())["settings"]["profile"] == "general", "nothing is written"


def test_a_run_whose_profile_was_a_file_asks_for_it(take: Path, tmp_path: Path) -> None:
    rules = profile("[flagged]\nblur_score = { below = 1 }", tmp_path)
    command("clip", take, "--profile", rules, "-o", tmp_path / "own")
    done = command("clip", tmp_path / "own", "--fail-on", "reject")
    assert done.exit_code == 1 and "give that file: --profile FILE" in " ".join(done.stderr.split())
    assert command("clip", tmp_path / "own", "--profile", rules, "--fail-on", "reject").exit_code == 0
