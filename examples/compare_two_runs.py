"""Measure the same clips from two systems and say what changed."""

import rushes
from samples import make_clips

before = rushes.evaluate_clips(make_clips("before", count=4, contrast=60), run="runs/before")
after = rushes.evaluate_clips(make_clips("after", count=4, contrast=30), run="runs/after")

found = rushes.compare_runs(before, after)
(blur, *_) = found.find("blur_score")
mean = blur.statistics.mean
print(f"blur_score moved by {mean.value:+.1f} over {mean.count} clips: {mean.signature}")
print("most:", [(change.subject, change.difference.value) for change in blur.largest])
print("not compared:", [refusal.why for refusal in found.refused] or "nothing")
