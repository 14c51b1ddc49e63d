"""Profiles and badges: strict thresholds, every reason kept, nothing judged that was not computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.reason import Cause, Reason
from rushes.core.span import Span
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.settings import needed_tier
from rushes.instruments.clip.signals.badges import Badge, judge
from rushes.instruments.clip.signals.profile import load_profile, parse_profile
from rushes.instruments.clip.signals.sanity import Sanity


def measured(**values: float | bool) -> dict[str, Measurement]:
    """Measurements by name with these values; the rest as a sound clip has them."""
    sound: dict[str, float | bool] = {
        "decode_ok": True,
        "av_duration_delta_ms": 0.0,
        "flicker_score": 1.0,
        "freeze_frame_ratio": 0.0,
        "blur_score": 90.0,
    }
    return {
        name: Measurement(
            definition=METRICS[name].definition, value=value, count=1, note="broken header" if not value else ""
        )
        for name, value in (sound | values).items()
    }


def status(badge: Badge) -> tuple[str, tuple[str, ...]]:
    return badge.status, badge.reasons


LENGTHS = "sound and picture differ in length"
UPSTREAM = load_profile("metricbundle-v1")
"""The specification's rules; two of the thresholds are its own."""


def test_a_sound_clip_passes() -> None:
    assert status(judge(measured(), UPSTREAM)) == ("pass", ())


@pytest.mark.parametrize(
    ("values", "expected", "reason"),
    [
        ({"decode_ok": False}, "reject", "cannot be decoded: broken header (decode_ok=false)"),
        ({"av_duration_delta_ms": 500.5}, "reject", f"{LENGTHS} (av_duration_delta_ms=500.5 > 500)"),
        ({"flicker_score": 10.5}, "flagged", "flicker_score=10.50 > 10.0"),
        ({"freeze_frame_ratio": 0.31}, "flagged", "freeze_frame_ratio=0.3100 > 0.3"),
        ({"blur_score": 19.999}, "flagged", "blur_score=19.999 < 20.0"),
    ],
)
def test_each_rule_fires_with_its_reason(values: dict[str, float], expected: str, reason: str) -> None:
    assert status(judge(measured(**values), UPSTREAM)) == (expected, (reason,))


@pytest.mark.parametrize(
    "values",
    [{"av_duration_delta_ms": 500.0}, {"flicker_score": 10.0}, {"freeze_frame_ratio": 0.3}, {"blur_score": 20.0}],
)
def test_on_the_threshold_nothing_fires(values: dict[str, float]) -> None:
    assert judge(measured(**values), UPSTREAM).status == "pass"


def test_reject_beats_flagged_and_every_reason_is_kept() -> None:
    badge = judge(measured(av_duration_delta_ms=900.0, blur_score=3.0, flicker_score=11.0), UPSTREAM)
    assert badge.status == "reject"
    assert badge.reasons == (
        f"{LENGTHS} (av_duration_delta_ms=900 > 500)",
        "flicker_score=11 > 10.0",
        "blur_score=3 < 20.0",
    )


def test_what_was_not_computed_is_not_judged_and_the_badge_says_so() -> None:
    badge = judge(measured(), UPSTREAM)
    assert badge.status == "pass"
    assert badge.not_judged == ("face_present_ratio", "mouth_audio_corr", "mouth_audio_null_share"), "lse is optional"
    assert badge.text() == "pass (not judged: face_present_ratio, mouth_audio_corr, mouth_audio_null_share)"


def test_the_specifications_thresholds_are_kept() -> None:
    assert [(rule.metric, rule.level, rule.comparison, rule.threshold) for rule in UPSTREAM.rules] == [
        ("decode_ok", "reject", "is", False),
        ("face_present_ratio", "reject", "below", 0.2),
        ("av_duration_delta_ms", "reject", "above", 500),
        ("flicker_score", "flagged", "above", 10.0),
        ("freeze_frame_ratio", "flagged", "above", 0.3),
        ("blur_score", "flagged", "below", 20.0),
        ("mouth_audio_corr", "flagged", "below", 0.1),
        ("mouth_audio_null_share", "flagged", "above", 0.3),
        ("lse_c", "flagged", "below", 3.0),
        ("lse_d", "flagged", "above", 10.0),
    ]
    assert [rule.metric for rule in UPSTREAM.rules if rule.optional] == ["lse_c", "lse_d"]


def test_an_optional_rule_needs_no_tier_and_is_never_missing() -> None:
    text = 'name = "x"\n[flagged]\nlse_c = { below = 3.0, optional = true }\n'
    optional, plain = (parse_profile(t, source="x") for t in (text, text.replace(", optional = true", "")))
    assert (needed_tier(optional), needed_tier(plain)) == (0, 2)
    assert optional.digest != plain.digest == parse_profile(text.replace("true", "false"), source="x").digest
    assert judge(measured(), optional).not_judged == () and judge(measured(), plain).not_judged == ("lse_c",)


@pytest.mark.parametrize(
    "line",
    ["lse_c = { optional = true }", "lse_c = { below = 3, optional = 1 }", "lse_c = { below = 3, optionl = true }"],
)
def test_a_wrong_optional_is_one_line(line: str) -> None:
    with pytest.raises(InputError, match=r"^x: lse_c expected "):
        parse_profile(f'name = "x"\n[flagged]\n{line}\n', source="x")


@pytest.mark.parametrize("columns", ['"blur_score"', '["blur"]', "[3]"])
def test_wrong_columns_are_one_line(columns: str) -> None:
    with pytest.raises(InputError, match=r"^x: expected `columns` to be a list of clip metrics"):
        parse_profile(f'name = "x"\ncolumns = {columns}\n', source="x")


def test_general_needs_no_face_and_no_optical_flow() -> None:
    names = [name for rule in load_profile("general").rules for name in rule.readings]
    assert {METRICS[name].tier for name in names} == {0}
    assert not load_profile("general").needs_motion and load_profile("generated").needs_motion


def test_a_reason_is_words_first_then_where_then_the_numbers() -> None:
    metric, span = METRICS["longest_freeze_ms"].definition, Span(1000.0, 2400.0)
    frozen = Measurement(definition=metric, value=1400.0, count=9, note=span.text(), span=span)
    badge = judge({"longest_freeze_ms": frozen}, load_profile("general"))
    assert badge.reasons == ("frozen 1.0–2.4 s (longest_freeze_ms=1400 > 350)",)
    rule = {"metric": "longest_freeze_ms", "comparison": "above", "threshold": 350, "value": 1400.0}
    assert [reason.as_row() for reason in badge.why] == [
        rule
        | {"cause": "rule", "level": "flagged", "signature": metric.signature, "words": "frozen"}
        | {"span": [1000.0, 2400.0]}
    ]


def test_a_rule_may_name_a_second_reading_or_a_whole_signature() -> None:
    signature = METRICS["flicker_delta"].definition.signature
    profile = parse_profile(
        f'name = "x"\n[flagged]\nblur_p10 = {{ below = 5 }}\n"{signature}" = {{ above = 8 }}\n', source="x"
    )
    values = {
        name: Measurement(definition=METRICS[name].definition, value=value, count=9)
        for name, value in (("flicker_score", 90.0), ("flicker_delta", 8.5), ("blur_score", 1.0), ("blur_p10", 4.0))
    }
    assert judge(values, profile).reasons == ("blur_p10=4 < 5", "flicker_delta=8.500 > 8")
    other = signature.replace("mean-abs-delta", "median")
    with pytest.raises(InputError, match="not a clip metric"):
        parse_profile(f'name = "x"\n[flagged]\n"{other}" = {{ above = 8 }}\n', source="x")


def test_decode_sanity_holds_under_a_profile_without_such_a_rule() -> None:
    profile = parse_profile('name = "x"\n[flagged]\nblur_score = { below = 20.0 }\n', source="x")
    broken = Reason(cause=Cause.UNREADABLE, level="reject", note="no video")
    assert status(judge({}, profile, sanity=Sanity(broken=broken))) == ("reject", ("cannot be decoded (no video)",))
    lost = Reason(cause=Cause.DAMAGED, level="flagged", metric="corrupt_frames", value=43)
    damaged = judge(measured(), profile, sanity=Sanity(damage=(lost,)))
    assert status(damaged) == ("flagged", ("43 frames damaged",))


def test_a_users_own_profile(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n[flagged]\nblur_score = { below = 100, above = 1000 }\n')
    profile = load_profile(file)
    assert profile.name == "mine"
    assert status(judge(measured(), profile)) == ("flagged", ("blur_score=90 < 100",))
    assert status(judge(measured(blur_score=2000.0), profile)) == ("flagged", ("blur_score=2000 > 1000",))


def test_the_digest_follows_the_rules_not_the_file() -> None:
    one = parse_profile('name = "a"\n[reject]\ndecode_ok = { is = false }\n', source="one")
    same = parse_profile('# a remark\nname = "a"\n[reject]\ndecode_ok={is=false}\n', source="two")
    other = parse_profile('name = "a"\n[flagged]\ndecode_ok = { is = false }\n', source="three")
    assert one.digest == same.digest != other.digest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "expected TOML"),
        ("[reject]\n", "expected a name"),
        ('name = "x"\n[warn]\n', "'warn'"),
        ('name = "x"\nreject = 3\n', "table"),
        ('name = "x"\n[reject]\nfocus = { below = 3 }\n', "not a clip metric"),
        ('name = "x"\n[reject]\nblur_score = 3\n', "expected { above"),
        ('name = "x"\n[reject]\nblur_score = { under = 3 }\n', "above/below"),
        ('name = "x"\n[reject]\nblur_score = { below = true }\n', "above/below"),
        ('name = "x"\n[reject]\ndecode_ok = { is = 0 }\n', "is = true/false"),
    ],
)
def test_a_bad_profile_says_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("{", r"\{")) as error:
        parse_profile(text, source="my.toml")
    assert str(error.value).startswith("my.toml: ")


def test_no_such_profile() -> None:
    every = "general, generated, thorough, talking-head, screen, animation, auto, metricbundle-v1 or a profile file"
    with pytest.raises(InputError, match=every):
        load_profile("nowhere.toml")
