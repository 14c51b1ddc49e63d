"""Keep what passes: measure a data set in shards, ask it in SQL, write the list of files to train on.

The same script does 100,000 clips: give it your folder, leave `shards` out (a run of 10,000 clips or more is in shards
by itself), and add `engine=rushes.Engine(kind="ray", address=…)` to use a cluster. A run that was stopped continues.
"""

from pathlib import Path

import rushes
from samples import make_clips

takes = make_clips("data", count=6, contrast=60)
make_clips("data/dull", count=2, contrast=4)
run = rushes.evaluate_clips(takes, run="runs/data", shards=4)
print(f"{len(run.subjects)} clips, digest {run.digest[:12]}")

signals = rushes.query(run, "select review_signal, count(*) as clips from clips group by 1 order by 1")
print("review signals:", {row["review_signal"]: row["clips"] for row in signals.to_pylist()})

keep = rushes.query(run, "select path from clips where review_signal <> 'reject' and blur_score >= 20 order by number")
Path("keep.txt").write_text("".join(f"{path}\n" for path in keep["path"].to_pylist()))
print(f"{keep.num_rows} clips are worth keeping: keep.txt")

# Of a million clips too, only these two columns are read, some thousand rows at a time.
rows = (row for batch in run.scan(columns=["id", "sharpness"], where="sharpness >= 0") for row in batch.to_pylist())
least = min(rows, key=lambda row: row["sharpness"])
print("least sharp:", least["id"], "under", run.one("sharpness", subject=least["id"]).signature)
