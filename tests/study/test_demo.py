"""The demo's study: simulated raters, labelled as such, give back the planted order, with the same bytes every time."""

from __future__ import annotations

from rushes.storage.runs import read_run
from rushes.study import demo, open_service
from rushes.study.demo import RATERS, STRENGTHS, run


def test_the_planted_order_comes_out_and_is_labelled_as_simulated(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "PROMPTS", 4)  # one of each family; `rushes demo` has eight
    part = run(tmp_path)
    assert part.as_expected and "simulated" in part.title and "simulated raters" in part.found
    assert [row[1] for row in part.rows] == sorted(STRENGTHS, key=lambda name: -STRENGTHS[name])
    found = read_run(part.run)
    assert found.subjects[0].facts["simulated_raters"] is True
    assert all("|raters:simulated|" in m.signature for m in found.measurements["demo"])
    assert len({m.signature for m in found.measurements["demo"]}) <= 27
    with open_service(tmp_path / "preference" / "studies.db") as service:
        status = service.study_status("demo")
    assert status.summary.simulated and len(status.raters) == RATERS
    assert all(f.finished + f.to_adjudicate == f.samples for f in status.families)
    before = [(part.run / name).read_bytes() for name in ("subjects.jsonl", "measurements.jsonl")]
    again = run(tmp_path)
    assert before == [(again.run / name).read_bytes() for name in ("subjects.jsonl", "measurements.jsonl")]
