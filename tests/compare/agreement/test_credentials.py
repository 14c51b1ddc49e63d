"""Credentials: written by believe, read strictly, and who may say better by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from tests.compare.agreement.rated import definition, made_up, write_csv, write_run
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.agreement.credential import (
    Agreed,
    Credential,
    read_credential,
    shipped_credentials,
)
from rushes.compare.agreement.earned_say import NoSay, earned_say
from rushes.compare.agreement.human_scores import read_human_scores
from rushes.compare.agreement.metric_agreement import MetricAgreement, believe
from rushes.compare.agreement.saving import credential_of
from rushes.core.errors import InputError
from rushes.core.reading import Reading
from rushes.instruments.clip.metrics import METRICS as CLIP_METRICS

METRICS = {"good": lambda q, g: q + g.normal(size=q.shape), "chance": lambda q, g: g.normal(size=q.shape)}


@pytest.fixture(scope="module")
def found() -> MetricAgreement:
    return believe(*made_up(np.random.default_rng(4), metrics=METRICS))


@pytest.fixture(scope="module")
def good(found: MetricAgreement) -> Credential:
    return credential_of(found, "good", data="made", kind="text-to-video", seen="no")


def test_a_credential_says_what_believe_found(found: MetricAgreement, good: Credential) -> None:
    one = found.of("quality", "agrees")[0]
    pairs = one.numbers["within-prompt", "pairwise_accuracy"]
    assert pairs.interval is not None
    assert (good.pairs_right.value, good.pairs_right.low) == (pairs.value, pairs.interval.low)
    assert good.pairs_right.one_person == found.ceilings["quality", "within-prompt", "pairwise_accuracy"].value
    assert (good.question, good.metric, good.signature, good.better) == ("quality", "good", "good|v:1", "higher")
    assert (good.data.prompts, good.data.raters, good.data.clips, good.data.name) == (20, 3, 80, "made")
    assert good.data.systems == ("amber", "birch", "cedar", "dogwood") and (good.kind, good.seen) == (
        "text-to-video",
        "no",
    )
    assert good.above_chance and not credential_of(found, "chance").above_chance


def test_within_one_system_is_the_mean_of_scipys(found: MetricAgreement, good: Credential) -> None:
    """Spearman's ρ of each system's 20 clips by scipy, for the metric, and for each rater against the other two."""
    rated, metric = found.rated["quality"], found.of("quality", "agrees")[0].metric.per_clip
    own, people = [], []
    for system in good.data.systems:
        keys = [key for key in rated if key[0] == system]
        table = np.array([[*rated[key].values()] for key in keys])
        own.append(spearmanr([metric[key] for key in keys], table.mean(axis=1)).statistic)
        people += [spearmanr(table[:, r], np.delete(table, r, axis=1).mean(axis=1)).statistic for r in range(3)]
    assert good.within_system is not None and good.all_clips is not None
    assert good.within_system.value == pytest.approx(np.mean(own))
    assert good.within_system.one_person == pytest.approx(np.mean(people))
    assert good.within_system.low < good.within_system.value < good.within_system.high


def test_a_metric_of_systems_alone_agrees_over_clips_and_not_within_one() -> None:
    """Quality differs by system, and the metric knows the system and nothing else."""

    def system_only(quality: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.tile(np.arange(4.0), (len(quality), 1)) + 0.01 * rng.normal(size=quality.shape)

    told = believe(*made_up(np.random.default_rng(1), prompts=30, quality=3.0, metrics={"system": system_only}))
    one = credential_of(told)
    assert one.all_clips is not None and one.within_system is not None
    assert one.all_clips.low > 0.6 and one.above_chance
    assert abs(one.within_system.value) < 0.25 and one.within_system.low < 0 < one.within_system.high


def test_written_and_read(good: Credential, tmp_path: Path) -> None:
    odd = replace(good, question='say "better" \\ größer', at=(("joint", "left wrist"),), all_clips=None)
    for number, one in enumerate((good, odd)):
        path = tmp_path / f"{number}.toml"
        path.write_text(one.toml(), "utf-8")
        again = rushes.read_credential(path)
        assert again.toml() == one.toml() and again.question == one.question and again.at == one.at
        assert again.pairs_right.value == pytest.approx(one.pairs_right.value, abs=1e-8)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format = 1", "format = 2", "expected a credential of format 1; got 2"),
        ("format = 1\n", "", "expected a credential of format 1; got none"),
        ('seen = "no"', 'seen = "maybe"', "seen is yes, no or unknown; got 'maybe'"),
        ('better = "higher"', 'better = "up"', "better is higher, lower or neither; got 'up'"),
        ('kind = "text-to-video"', "kind = 3", "kind is a text; got 3"),
        ('question = "quality"\n', "", "question is a text; got none"),
        ('metric = "good"', 'metric = "other"', "the signature is that of good, the metric other"),
        ("confidence = 0.95", "confidence = true", "confidence is a number from 0 to 1; got True"),
        ("[pairs_right]", "[pairs_rigth]", "pairs_rig?th"),
        ("prompts = 20", "prompts = 2.5", r"\[data\]: prompts is a whole number; got 2.5"),
        ("systems = [", "systems = [3, ", r"\[data\]: systems is a list of names"),
        ("[within_system]\n", "[within_system]\nmean = 7\n", r"\[within_system\]: .*mean"),
        ("format = 1", "format = 1 =", "expected TOML"),
    ],
)
def test_what_is_no_credential_is_one_line(good: Credential, tmp_path: Path, old: str, new: str, message: str) -> None:
    path, text = tmp_path / "one.toml", good.toml()
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=message) as raised:
        read_credential(path)
    assert str(raised.value).startswith(f"{path}: ") and "\n" not in str(raised.value)


def test_a_share_outside_its_range_and_a_file_that_is_not_there(good: Credential, tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    for part, message in (
        (Agreed(value=0.7, low=0.9, high=0.8), "low is at most high"),
        (Agreed(value=-0.2, low=0.5, high=0.8), "value is a number from 0 to 1; got -0.2"),
    ):
        path.write_text(replace(good, pairs_right=part).toml(), "utf-8")
        with pytest.raises(InputError, match=message):
            read_credential(path)
    with pytest.raises(InputError, match="cannot be read as a credential"):
        read_credential(tmp_path / "none.toml")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="expected TOML"):
        read_credential(path)


def test_who_may_say_better(good: Credential) -> None:
    metric = definition("good")
    weak = replace(good, pairs_right=Agreed(value=0.55, low=0.5, high=0.6))
    said = earned_say(metric, [weak, good], kind="text-to-video")
    assert said.credentials == (good,) and said.why is None
    for credentials, of, kind, why in (
        ([], metric, None, NoSay.NO_CREDENTIAL),
        ([good], definition("other"), None, NoSay.NO_CREDENTIAL),
        ([good], replace(metric, history=("first release", "another formula")), None, NoSay.OTHER_SIGNATURE),
        ([good], metric, "talking-head", NoSay.OTHER_KIND),
        ([weak], metric, "text-to-video", NoSay.NOT_ABOVE_CHANCE),
        ([good], definition("good", better="neither"), None, NoSay.NO_DIRECTION),
    ):
        said = earned_say(of, credentials, kind=kind)
        assert said.credentials == () and said.why is why
        assert said.nearest == (credentials[0] if why not in (NoSay.NO_CREDENTIAL, NoSay.NO_DIRECTION) else None)


def test_a_place_of_a_metric_has_its_own_credential_and_each_question_its_best(good: Credential) -> None:
    wrist = (("joint", "left_wrist"),)
    reading = Reading(definition=definition("good"), at=wrist)
    assert earned_say(reading, [good]).why is NoSay.OTHER_SIGNATURE
    assert earned_say(reading, [replace(good, at=wrist)]).credentials
    lip = replace(good, question="lip sync")
    better = replace(lip, pairs_right=Agreed(value=0.99, low=0.98, high=1.0))
    assert earned_say(definition("good"), [good, lip, better]).credentials == (better, good)


def write_study(folder: Path) -> tuple[list[str], Path]:
    """Three systems on ten prompts, two raters; `good` follows people with some noise, frame_count the systems."""
    rng, rows = np.random.default_rng(8), []
    for worth, system in enumerate(("amber", "birch", "cedar")):
        clips = [f"p{n}" for n in range(10)]
        seen = np.clip(np.round(worth + 2 + rng.normal(scale=0.8, size=(2, 10))), 1, 5)
        values = {
            "good": {p: float(seen[:, n].mean() + 0.7 * rng.normal()) for n, p in enumerate(clips)},
            "frame_count": {p: 16.0 * worth + n for n, p in enumerate(clips)},
        }
        write_run(folder / "runs" / system / "clip", values)
        rows += [(p, system, rater, int(seen[r, n])) for n, p in enumerate(clips) for r, rater in enumerate("xy")]
    ratings = write_csv(folder / "ratings.csv", ("prompt_id", "system", "rater", "quality"), rows)
    return [str(folder / "runs")], ratings


def test_saved_from_the_command_line(tmp_path: Path) -> None:
    places, ratings = write_study(tmp_path)
    out = tmp_path / "good.toml"
    asked = ["believe", *places, "--ratings", str(ratings)]
    shown = CliRunner().invoke(
        app, [*asked, "--save", str(out), "--metric", "good", "--seen", "no", "--kind", "text-to-video"]
    )
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.output.split())
    assert "Within one system, where one person has ρ" in text and "fact of the file" in text
    one = read_credential(out)
    assert (one.metric, one.seen, one.kind, one.data.name) == ("good", "no", "text-to-video", tmp_path.name)
    # the same study gives the same bytes
    CliRunner().invoke(app, [*asked, "--save", str(tmp_path / "b.toml"), "--metric", "good", "--seen", "no"])
    assert read_credential(tmp_path / "b.toml").data.digest == one.data.digest

    for extra, message in (
        (["--save", str(out)], "name the metric; --metric takes one of frame_count, good"),
        (["--save", str(out), "--metric", "bad"], "'bad' is none of the metrics"),
        (["--seen", "yes"], "add --save FILE.toml"),
    ):
        bad = CliRunner().invoke(app, [*asked, *extra])
        assert bad.exit_code != 0 and message in " ".join(str(bad.exception).split() + bad.output.split())


def test_a_fact_of_the_file_never_agrees(tmp_path: Path) -> None:
    """frame_count orders the systems as people do on every prompt."""
    places, ratings = write_study(tmp_path)
    found = believe(places, ratings)
    by_name = {one.metric.definition.name: one for one in found.of("quality")}
    fact = by_name["frame_count"]
    assert fact.verdict == "fact of the file" and fact.p is None
    assert float(found.deciding(fact).value or 0) > 0.5 and by_name["good"].verdict == "agrees"
    p = by_name["good"].p
    assert p is not None and p.definition.param("judged") == "1"  # facts are no part of Holm's family


def test_no_credential_without_pairs() -> None:
    measured, people = made_up(np.random.default_rng(1), systems=("amber",))
    with pytest.raises(InputError, match="pairs within prompts: no prompt has two systems"):
        credential_of(believe(measured, people))
    two = replace(people, scores={"a": people.scores["quality"], "b": people.scores["quality"]})
    with pytest.raises(InputError, match="one question: dimension=…, one of a, b"):
        credential_of(believe(measured, two))


def test_shipped_credentials_are_of_the_metrics_as_they_are() -> None:
    """A metric whose definition changed has to earn its credential anew: benchmarks/credentials.py."""
    shipped = [one for one in shipped_credentials() if one.kind == "text-to-video"]
    metrics = ("flow_residual", "luma_alternation", "temporal_disorder", "temporal_inconsistency")
    assert [one.metric for one in shipped] == [metric for metric in metrics for _ in ("raw", "alike")]
    definitions = {one.metric: CLIP_METRICS[one.metric].definition for one in shipped}
    for one, form in zip(shipped, ("raw", "alike-1(160x120@10,1.6s,crop)") * 4, strict=True):
        assert one.signature == definitions[one.metric].add_params(input=form).signature
        assert one.better == definitions[one.metric].better and one.above_chance
        assert (one.question, one.kind, one.seen) == ("temporal_quality", "text-to-video", "yes")
        assert (one.data.name, one.data.prompts, one.data.raters, one.data.clips) == ("FETV", 17, 3, 85)
        assert one.within_system is not None and one.all_clips is not None


HEADS = {
    "head": {"brow_motion", "gaze_spread", "head_distance", "head_motion", "landmark_jitter"},
    "lip": {"articulation_distance", "lip_speech_fit", "mouth_audio_corr", "mouth_audio_margin", "mouth_speech_motion"},
}


@pytest.mark.parametrize("question", HEADS)
def test_what_is_known_of_talking_heads_is_of_the_metrics_as_they_are(question: str) -> None:
    found = [one for one in shipped_credentials() if one.kind == "talking-head" and one.question == question]
    assert {one.metric for one in found} == HEADS[question] and len(found) == len(HEADS[question])
    for one in found:
        model = one.signature.partition("|model:")[2].partition("|")[0]
        metric = CLIP_METRICS[one.metric].definition.with_params(model=model).add_params(input="raw")
        assert (one.signature, one.better) == (metric.signature, metric.better)
        assert (one.seen, one.data.name) == ("yes", "ADTH-QA")
        clips = {"mouth_audio_margin": 14, "lip_speech_fit": 17}.get(one.metric, 20)  # the others have no value
        assert (one.data.prompts, one.data.raters, one.data.clips) == (5, 0, clips)
        # None of them may rank systems: no better side, no better than a coin, or fooled by noise.
        assert earned_say(metric, [one]).why in (NoSay.NO_DIRECTION, NoSay.NOT_ABOVE_CHANCE, NoSay.FOOLED)


def test_a_credential_of_a_common_form_counts_for_other_sizes_rates_and_lengths(good: Credential) -> None:
    """Not for another fit, other rules, or clips as they are; one of the very form comes first."""
    forms = ("alike-1(160x120@10,1.6s,crop)", "alike-1(64x64@8,2s,crop)", "alike-1(160x120@10,1.6s,bars)", "raw")
    metrics = [definition("good").add_params(input=form) for form in (*forms, "alike-2(160x120@10,1.6s,crop)")]
    earned = replace(good, signature=metrics[0].signature)
    assert [earned.is_about(metric) for metric in metrics] == [True, True, False, False, False]
    assert [earned.is_in_other_form(metric) for metric in metrics] == [False, True, False, False, False]
    assert not replace(good, signature=metrics[3].signature).is_about(metrics[0])
    assert earned_say(metrics[3], [earned]).why is NoSay.OTHER_SIGNATURE
    weaker = replace(earned, signature=metrics[1].signature, pairs_right=Agreed(value=0.6, low=0.55, high=0.65))
    assert earned_say(metrics[1], [earned, weaker]).credentials == (weaker,)
    assert earned_say(metrics[1], [earned]).credentials == (earned,)


def test_shipped_ceilings_are_those_of_the_ratings(shared: Path) -> None:
    """One person against the other two, by scipy and by counting, from FETV's ratings alone."""
    file = shared / "suites" / "fetv" / "ratings.csv"
    if not file.is_file():
        pytest.skip("FETV's ratings are not here")
    rated = read_human_scores(file, dimensions=["temporal_quality"]).scores["temporal_quality"]
    keys = sorted(rated)
    table = np.array([[rated[key][rater] for rater in sorted(rated[key])] for key in keys])
    over, within, right = [], [], []
    for rater in range(3):
        own, others = table[:, rater], np.delete(table, rater, axis=1).mean(axis=1)
        over.append(spearmanr(own, others).statistic)
        each = [[n for n, key in enumerate(keys) if key[0] == system] for system in sorted({s for s, _ in keys})]
        each = [rows for rows in each if np.ptp(own[rows]) and np.ptp(others[rows])]
        within.append(np.mean([spearmanr(own[rows], others[rows]).statistic for rows in each]))
        pairs = [
            (np.sign(own[a] - own[b]), np.sign(others[a] - others[b]))
            for a in range(len(keys))
            for b in range(a)
            if keys[a][1] == keys[b][1] and others[a] != others[b]
        ]
        right.append(np.mean([1.0 if x == y else 0.5 if x == 0 else 0.0 for x, y in pairs]))
    for one in (one for one in shipped_credentials() if one.data.name == "FETV"):
        assert one.all_clips is not None and one.within_system is not None
        people = (one.pairs_right.one_person, one.all_clips.one_person, one.within_system.one_person)
        assert people == pytest.approx((np.mean(right), np.mean(over), np.mean(within)), abs=1e-7)


def test_a_metric_that_a_degraded_copy_improves_has_no_say(good: Credential, tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(replace(good, fooled_by=("blur", "crf 38")).toml())
    fooled = read_credential(path)
    assert fooled.fooled_by == ("blur", "crf 38") and 'fooled_by = ["blur", "crf 38"]' in path.read_text()
    found = earned_say(definition("good"), [fooled])
    assert (found.credentials, found.why, found.nearest) == ((), NoSay.FOOLED, fooled)
    assert earned_say(definition("good"), [fooled, good]).credentials == (good,)
    path.write_text(fooled.toml().replace('["blur", "crf 38"]', '"blur"'))
    with pytest.raises(InputError, match="fooled_by is a list of faults; got 'blur'"):
        read_credential(path)


def test_shipped_credentials_of_a_metric_that_a_fault_lowers_say_so() -> None:
    found = {one.metric: one.fooled_by for one in shipped_credentials() if one.fooled_by}
    assert found == {"temporal_disorder": ("blur",), "articulation_distance": ("noise",)}
