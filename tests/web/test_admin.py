"""The owner's pages over HTTP: create, invite, follow, decide, exclude, rank, export; each with its JSON twin."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rushes.instruments.preference.votes import Vote, Winner
from rushes.study import ExclusionRule, StudyPlan, Task
from rushes.study.records import Choice

from .livesite import SYSTEMS, Site, Study, vote_through

PAGES = ("", "/raters", "/running", "/disagreements", "/adjudication", "/results", "/export", "/log")


def for_system(study: Study, system: str) -> Callable[[Task], Choice]:
    """A rater who always prefers this system; which side it is on, the server knows."""
    return lambda task: "A" if system in study.service.media(task.a.token).source else "B"


@pytest.fixture
def divided(study: Study) -> Study:
    """Three raters: two for one system, one for the other."""
    for system in (SYSTEMS[0], SYSTEMS[1], SYSTEMS[0]):
        vote_through(study, study.rater(), for_system(study, system))
    return study


def test_every_page_and_its_twin_before_and_after_votes(study: Study) -> None:
    client = study.admin()
    for stage in ("empty", "voted"):
        for page in PAGES:
            html, twin = client.get(f"/studies/bars{page}"), client.get(f"/studies/bars{page}.json")
            assert html.status_code == 200 and "Bars that cross" in html.text, (stage, page)
            assert twin.status_code == 200 and twin.json()["summary"]["name"] == "bars", (stage, page)
        if stage == "empty":
            vote_through(study, study.rater(), for_system(study, SYSTEMS[0]))
    assert client.get("/home.json").json()["studies"][0]["votes"] == 3


def test_progress_and_agreement_per_family(divided: Study) -> None:
    facts = divided.admin().get("/studies/bars.json").json()
    assert [family["family"] for family in facts["families"]] == ["T1", "T2", "T4"]
    # Two raters disagree on each of three samples, so a third is asked: 9 votes; agreement is of the first two.
    assert facts["totals"]["votes"] == 9
    assert facts["totals"]["agreement"] == 0.0
    assert facts["families"][0]["agreement_signature"].startswith("percent_agreement|exclusion:none|")
    page = divided.admin().get("/studies/bars").text
    assert "multi-constraint adherence" in page and "0 %" in page


def test_disagreements_stand_side_by_side_with_both_raters_tags(divided: Study) -> None:
    client = divided.admin()
    items = client.get("/studies/bars/disagreements.json").json()["disagreements"]
    assert len(items) == 3
    page = client.get("/studies/bars/disagreements").text
    for rater in ("rater_01", "rater_02", "rater_03"):
        assert rater in page
    assert page.count("<video") == 6 and "Missed constraint" in page and "settled by majority" in page
    for clip in items[0]["clips"]:
        assert client.get(clip["address"]).headers["content-type"] == "video/mp4"


def test_the_owner_decides_a_disputed_sample(study: Study) -> None:
    for system in SYSTEMS:
        vote_through(study, study.rater(), for_system(study, system))
    client = study.admin()
    queue = client.get("/studies/bars/adjudication.json").json()["queue"]
    assert len(queue) == 3
    decision = {"sample": queue[0]["key"], "winner": "B", "tags": "Identity swap", "note": "watch frame 12"}
    assert client.send_form("/studies/bars/adjudication", decision).status_code == 303
    assert client.send_form("/studies/bars/adjudication", {"sample": queue[1]["sample"]}).status_code == 400
    assert client.send_form("/studies/bars/adjudication", {**decision, "winner": "nobody"}).status_code == 400
    assert len(client.get("/studies/bars/adjudication.json").json()["queue"]) == 2
    assert any(
        entry["action"].startswith("adjudicat") for entry in client.get("/studies/bars/log.json").json()["entries"]
    )
    raw = [one for one in study.service.votes("bars", adjudicated=True) if not one.adjudicated]
    assert len(raw) == 6, "the raters' own votes stay as they were"


def test_invitations_are_shown_once_and_a_fresh_link_replaces_the_old(study: Study) -> None:
    client = study.admin()
    page = client.send_form("/studies/bars/invite", {"count": "2"}).text
    links = re.findall(r'readonly value="([^"]+/i/[^"]+)"', page)
    assert len(links) == 2 and all(link.startswith(study.site.url) for link in links)
    assert "/i/" not in client.get("/studies/bars/raters").text
    by_name = client.send_form("/studies/bars/invite", {"names": "anna\nben\n"}).text
    assert "anna" in by_name and "ben" in by_name
    for bad in ({}, {"count": "0"}, {"count": "501"}, {"count": "many"}):
        assert client.send_form("/studies/bars/invite", bad).status_code == 400
    again = client.send_form("/studies/bars/raters/anna/link").text
    fresh = re.findall(r'readonly value="([^"]+)"', again)
    old = re.findall(r'readonly value="([^"]+)"', by_name)
    assert study.site.client().send_form(old[0].removeprefix(study.site.url)).status_code == 410
    assert study.site.client().send_form(fresh[0].removeprefix(study.site.url)).status_code == 303


def test_exclusion_by_the_declared_rule_can_be_taken_back(make_site: Callable[..., Site], tmp_path: Path) -> None:
    from rushes.media import write_clip

    from .conftest import moving_bar

    table = tmp_path / "many.csv"
    rows = []
    for sample in range(12):
        for shade, system in zip((230, 120), SYSTEMS, strict=True):
            path = tmp_path / f"{system}_{sample}.mp4"
            write_clip(path, moving_bar(shade, sample), fps=25)
            rows.append(f"s{sample},T1,p{sample},{system},{path.name}")
    table.write_text("sample_id,task_id,prompt_id,system,path\n" + "\n".join(rows) + "\n")
    site = make_site()
    rule = ExclusionRule(max_side_bias=0.4)
    site.service.create_study(StudyPlan(name="many", gold_every=0, repeat_every=0, exclusion=rule))
    site.service.import_csv("many", table)
    study = Study(site=site, name="many")
    vote_through(study, study.rater(), lambda task: "A")
    vote_through(study, study.rater(), for_system(study, SYSTEMS[0]))
    client = study.admin()
    assert "meets the rule" in client.get("/studies/many/raters").text
    assert "rater_01" in client.send_form("/studies/many/exclusions").text
    raters = {row["rater"]: row for row in client.get("/studies/many/raters.json").json()["raters"]}
    assert raters["rater_01"]["excluded"] and raters["rater_01"]["share_a"] == 1.0
    blocks = client.get("/studies/many/results.json").json()["blocks"]
    assert [block["rule"] for block in blocks] == ["none", "side_bias>0.4"]
    assert [block["raters"] for block in blocks] == [2, 1]
    assert client.send_form("/studies/many/raters/rater_01/restore").status_code == 400
    assert client.send_form("/studies/many/raters/rater_01/restore", {"why": "sides were equal"}).status_code == 303
    assert not client.get("/studies/many/raters.json").json()["raters"][0]["excluded"]


def test_results_show_the_ranking_and_every_number_carries_its_signature(divided: Study) -> None:
    client = divided.admin()
    facts = client.get("/studies/bars/results.json").json()
    (block,) = facts["blocks"]
    rows = block["ranking"]["rows"]
    assert [row[1]["text"] for row in rows] == list(SYSTEMS)
    # 6 of 9 votes for the first: θ = ½ ln 2, Elo = 1000 ± 400/ln10 · ½ ln 2 = 1000 ± 60.206
    assert rows[0][2]["value"] == pytest.approx(1060.20600, abs=1e-4)
    assert rows[1][2]["value"] == pytest.approx(939.79400, abs=1e-4)
    assert rows[0][2]["signature"].startswith("bt_elo|clusters:rater+prompt|exclusion:none|labels:raw|")
    page = client.get("/studies/bars/results").text
    assert "1060" in page and "940" in page and 'class="range"' in page
    for policy in ("rao-kupper", "half-tie", "drop-tie"):
        assert client.get(f"/studies/bars/results.json?ties={policy}").json()["ties"] == policy
    assert client.get("/studies/bars/results?ties=coin").status_code == 400


def test_names_of_systems_are_never_capitalised(study: Study) -> None:
    """Heads begin with a capital letter; a system's name at the head of a column stays as it was given."""
    study.service.create_study(StudyPlan(name="lower", gold_every=0, repeat_every=0), training=False)
    rated = {"temporal": (4, 2)}
    votes = [
        Vote(sample=f"s{n}", system_a="amber", system_b="brick", winner=winner, rater="r", ratings=rated)
        for n, winner in enumerate(("a", "b", "a"))
    ]
    study.service.import_ratings("lower", votes)
    page = study.admin().get("/studies/lower/results").text
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", page)
    assert {"Rank", "amber ↑", "brick ↑"} <= set(heads), heads


def test_votes_that_cannot_be_ranked_say_why(study: Study) -> None:
    vote_through(study, study.rater(), for_system(study, SYSTEMS[0]))
    page = study.admin().get("/studies/bars/results")
    assert page.status_code == 200 and "These votes cannot be ranked" in page.text


def test_a_study_of_ties_alone_says_so_and_is_level_by_half_ties(study: Study) -> None:
    for _ in range(2):
        vote_through(study, study.rater(), lambda task: "Tie")
    client = study.admin()
    page = client.get("/studies/bars/results").text
    assert "These votes cannot be ranked" in page and "tie" in page
    assert client.get("/studies/bars.json").json()["totals"]["agreement"] == 1.0
    assert "These votes cannot be ranked" not in client.get("/studies/bars/results?ties=half-tie").text


def test_systems_that_never_met_are_named(study: Study) -> None:
    def vote(sample: str, one: str, other: str, winner: Winner) -> Vote:
        return Vote(sample=sample, system_a=one, system_b=other, winner=winner, rater="r1", family="T1", prompt="p")

    study.service.create_study(StudyPlan(name="islands", gold_every=0, repeat_every=0), training=False)
    votes = [vote("s1", "amber", "brick", "a"), vote("s2", "amber", "brick", "b")]
    votes += [vote("s3", "coral", "dune", "a"), vote("s4", "coral", "dune", "b")]
    study.service.import_ratings("islands", votes)
    page = study.admin().get("/studies/islands/results").text
    assert "These votes cannot be ranked" in page
    assert "amber, brick" in page and "coral, dune" in page


def test_decided_pairs_stand_last_and_say_what_contradicts_them(study: Study) -> None:
    for system in SYSTEMS:
        vote_through(study, study.rater(), for_system(study, system))
    names = [one.sample for one in study.service.adjudication_queue("bars")]
    study.service.adjudicate("bars", names[0], winner=SYSTEMS[0], tags=["Missed constraint"], by="ann")
    client = study.admin()
    assert client.get("/studies/bars.json").json()["contradicted"] == []
    assert "Votes contradict" not in client.get("/studies/bars").text
    study.site.app.state.pass_time(1)
    late = Vote(sample=names[0], system_a=SYSTEMS[0], system_b=SYSTEMS[1], winner="b", rater="zoe")
    study.service.import_ratings("bars", [late])
    *waiting, decided = client.get("/studies/bars/disagreements.json").json()["disagreements"]
    assert [item["state"] for item in waiting] == ["third", "third"]
    remark = f"zoe chose {SYSTEMS[1]} after the decision; 2 of 3 votes say {SYSTEMS[1]}"
    assert (decided["sample"], decided["state_text"], decided["remark"]) == (names[0], "decided", remark)
    page = client.get("/studies/bars/disagreements").text
    assert f"The votes contradict this decision: {remark}." in page and "the most divided first" in page
    assert "<strong>Votes contradict 1 decision.</strong>" in client.get("/studies/bars").text
    facts = client.get("/studies/bars.json").json()
    assert facts["contradicted"] == [names[0]]
    assert [facts["totals"][name] for name in ("finished", "third", "decided")] == [1, 2, 1]


def test_exports(divided: Study) -> None:
    client = divided.admin()
    starts = {"csv": b"", "ratings": b"sample_id,task_id", "arena": b"model_a,model_b,winner", "pwcmp": b""}
    for key, first in (starts | {"parquet": b"PAR1", "dpo": b"{"}).items():
        answer = client.get(f"/studies/bars/export/{key}")
        assert answer.status_code == 200 and answer.content.startswith(first) and len(answer.content) > 50, key
        assert re.fullmatch(rf'attachment; filename="bars-{key}\.\w+"', answer.headers["content-disposition"])
    rows = list(csv.DictReader(io.StringIO(client.get("/studies/bars/export/arena").text)))
    assert len(rows) == 9 and {rows[0]["model_a"], rows[0]["model_b"]} == set(SYSTEMS)


def test_exports_say_what_they_leave_out_and_can_let_decisions_stand(divided: Study) -> None:
    client = divided.admin()
    before = client.get("/studies/bars/export/dpo")
    divided.service.adjudicate("bars", "T2_p01", winner="Tie", tags=["Missed constraint"])
    decided = client.get("/studies/bars/export/dpo?adjudicated=true")
    assert (before.headers["rushes-left-out"], decided.headers["rushes-left-out"]) == ("0", "1")
    assert client.get("/studies/bars/export/dpo").content == before.content
    forms = {form["key"]: form for form in client.get("/studies/bars/export.json").json()["formats"]}
    assert forms["dpo"]["decisions"] and not forms["pwcmp"]["decisions"]
    assert forms["pwcmp"]["left_out"] == ""


def test_an_unknown_export_is_refused(study: Study) -> None:
    assert study.admin().get("/studies/bars/export/xlsx").status_code == 400


# --- creating ---------------------------------------------------------------------------------------------------------


def wait(site: Site, study: str) -> None:
    site.app.state.workbench.imports.wait(study, timeout_s=60)


def test_create_from_a_csv_that_is_sent(study: Study, clip_table: Path) -> None:
    client = study.admin()
    form = {"title": "Sent, by CSV!", "clips_path": str(clip_table.parent)}
    files = {"table": ("pairs.csv", clip_table.read_bytes(), "text/csv")}
    answer = client.send_form("/studies/new", form, files=files)
    assert answer.headers["location"] == "/studies/sent-by-csv"
    wait(study.site, "sent-by-csv")
    facts = client.get("/studies/sent-by-csv.json").json()
    assert facts["importing"] == {"state": "done", "text": "3 pairs were added."}
    assert facts["summary"]["pairs"] == 3
    assert "invite raters" in client.get("/studies/sent-by-csv").text


def test_create_from_runs(make_site: Callable[..., Site], clip_table: Path, tmp_path: Path) -> None:
    from rushes.storage.runs import Entry, RunWriter, Subject

    runs = []
    for system in SYSTEMS:
        runs.append(tmp_path / system)
        with RunWriter(runs[-1], instrument="clip", settings={}) as writer:
            for clip in sorted(clip_table.parent.glob(f"{system}*.mp4")):
                name = clip.stem.removeprefix(f"{system}_")
                subject = Subject(id=name, kind="clip", path=str(clip), sha256=None)
                writer.add(Entry(subject=subject, measurements=()))
            writer.finish([subject.id for subject in _subjects(writer)])
    site = make_site(runs=tuple(runs))
    study = Study(site=site, name="from-runs")
    client = study.admin()
    assert all(system in client.get("/").text for system in SYSTEMS)
    assert [run["status"] for run in client.get("/home.json").json()["runs"]] == ["complete", "complete"]
    assert client.send_form("/studies/new", {"name": "from-runs", "runs": SYSTEMS[0]}).status_code == 400
    made = client.send_form("/studies/new", {"name": "from-runs", "runs": list(SYSTEMS)})
    assert made.headers["location"] == "/studies/from-runs"
    wait(site, "from-runs")
    assert client.get("/studies/from-runs.json").json()["summary"]["pairs"] == 3


def _subjects(writer: object) -> list[object]:
    from rushes.storage.runs import RunWriter, read_run

    assert isinstance(writer, RunWriter)
    return list(read_run(writer.path).subjects)


def test_an_import_that_fails_says_why_and_can_be_done_again(study: Study, clip_table: Path, tmp_path: Path) -> None:
    client = study.admin()
    broken = tmp_path / "broken.csv"
    broken.write_text("sample_id,task_id,prompt_id,system,path\ns1,T1,p1,one,gone.mp4\ns1,T1,p1,two,gone2.mp4\n")
    client.send_form("/studies/new", {"name": "again", "table_path": str(broken)})
    wait(study.site, "again")
    page = client.get("/studies/again").text
    assert "The import stopped" in page and "gone.mp4" in page
    client.send_form("/studies/new", {"name": "again", "table_path": str(clip_table)})
    wait(study.site, "again")
    assert client.get("/studies/again.json").json()["summary"]["pairs"] == 3


def test_an_empty_study_of_another_plan_is_not_filled_in_silence(study: Study, clip_table: Path) -> None:
    study.service.create_study(StudyPlan(name="begun", language="de"), training=False)
    page = study.admin().send_form("/studies/new", {"name": "begun", "table_path": str(clip_table)})
    assert page.status_code == 400 and "with another plan" in page.text


RUBRIC_FILE = b"""
[[dimensions]]
key = "care"
label = "Care"
anchors = [[5, "all of it"], [1, "none"]]
[[tag_groups]]
label = "Manners"
tags = ["Careless"]
"""


def test_the_form_has_what_the_command_line_has(study: Study, clip_table: Path, tmp_path: Path) -> None:
    """Files of one's own are sent or lie on the server; the plan in the log has every setting."""
    (tmp_path / "consent.json").write_text('{"contact": "lab@example.org"}')
    client = study.admin()
    form = {
        "name": "whole",
        "table_path": str(clip_table),
        "consent_path": str(tmp_path / "consent.json"),
        "language": "de",
        "audio_check": "off",
        "pairing": "active",
        "pay": "12 GBP/hour",
        "on_erase": "remove",
        "training_tries": "5",
        "quota": "7",
    }
    files = {"rubric_file": ("mine.toml", RUBRIC_FILE, "text/plain"), "table": ("", b"", "text/csv")}
    made = client.send_form("/studies/new", form, files={**files, "consent_file": ("", b"", "text/plain")})
    assert made.headers.get("location") == "/studies/whole", made.text
    wait(study.site, "whole")
    (plan,) = [entry.detail["plan"] for entry in study.service.audit("whole") if entry.action == "created"]
    assert plan["rubric"].startswith("own-") and plan["consent_text"] == {"contact": "lab@example.org"}
    told = ("language", "audio_check", "pairing", "pay", "on_erase", "training_tries", "quota")
    assert [plan[name] for name in told] == ["de", False, "active", "12 GBP/hour", "remove", 5, 7]
    bad = {"rubric_file": ("mine.toml", b"dimensions = 3", "text/plain")}
    page = client.send_form("/studies/new", {"name": "x", "table_path": str(clip_table)}, files=bad)
    assert page.status_code == 400 and "mine.toml: expected one or more [[dimensions]]" in page.text
    both = {**form, "name": "x", "rubric_path": "other.toml"}
    assert "not both" in client.send_form("/studies/new", both, files=files).text


BAD_PLANS = (
    ({"name": "x"}, "one source of clips"),
    ({"name": "x", "table_path": "a.csv", "more_runs": "b\nc"}, "one source of clips"),
    ({"name": "x", "more_runs": "only-one"}, "two or more runs"),
    ({"name": "Bad Name", "table_path": "a.csv"}, "name"),
    ({"name": "bars", "table_path": "a.csv"}, "bars"),
    ({"name": "x", "table_path": "a.csv", "quota": "many"}, "quota"),
    ({"name": "x", "table_path": "a.csv", "max_side_bias": "2"}, "max_side_bias"),
    ({"name": "x", "table_path": "a.csv", "training_tries": "0"}, "wrong training answers"),
    ({"name": "x", "table_path": "a.csv", "language": "fr"}, "available in en, de"),
    ({"name": "x", "table_path": "a.csv", "pay": "lots"}, "lots"),
    ({"name": "x", "table_path": "a.csv", "audio_check": "maybe"}, "audio_check"),
    ({"name": "x", "table_path": "a.csv", "pairing": "random"}, "round-robin or active"),
    ({"name": "x", "table_path": "a.csv", "on_erase": "sell"}, "erased rater"),
    ({"name": "x", "table_path": "a.csv", "rubric_path": "no-such.toml"}, "no-such.toml: expected a rubric"),
    ({"name": "x", "table_path": "a.csv", "consent_path": "no-such.json"}, "no-such.json: expected a consent text"),
)


def test_a_bad_plan_is_refused_and_the_form_stays_filled(study: Study) -> None:
    client = study.admin()
    for form, says in BAD_PLANS:
        page = client.send_form("/studies/new", {"title": "Kept title", **form})
        assert page.status_code == 400 and says in page.text and "Kept title" in page.text, form


def test_a_sent_csv_that_is_not_text_or_has_no_folder_is_refused(study: Study) -> None:
    client = study.admin()
    for data, says in ((b"\xff\xfe\x00", "UTF-8"), (b"sample_id,path\ns1,a.mp4\n", "give the folder")):
        files = {"table": ("t.csv", data, "text/csv")}
        page = client.send_form("/studies/new", {"name": "x"}, files=files)
        assert page.status_code == 400 and says in page.text
