"""Measure a folder of clips, read the table, and write the page."""

import rushes
from samples import make_clips

make_clips("takes")
make_clips("takes/stuck", count=1, frozen=12)

run = rushes.evaluate_clips("takes", run="runs/monday")
print(run)
print(run.table("freeze_frame_ratio", "scene_cut_count", "av_duration_delta_ms"))

for subject in run.subjects:
    print(subject.id, subject.badge, *subject.reasons)

frozen = run.one("freeze_frame_ratio", subject=run.subjects[0].id)
print(frozen.value, "over", frozen.count, "steps:", frozen.signature)

rushes.write_report(run, "report.html", strips=0)
