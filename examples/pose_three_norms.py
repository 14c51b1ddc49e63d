"""One set of predictions, three numbers that people call PCK@20. Each says which it is."""

import numpy as np

import rushes

truth = np.zeros((1, 17, 2))
truth[0, :, 0], truth[0, :, 1] = np.linspace(0, 40, 17), np.linspace(0, 170, 17)
visible = np.ones((1, 17))
np.savez("gt.npz", keypoints=truth, visibility=visible)
np.savez("pred.npz", keypoints=truth + np.linspace(0, 25, 17)[None, :, None], visibility=visible)

done = rushes.score_pose("pred.npz", "gt.npz", norms=["torso-diameter", "bbox-diagonal", "absolute-px=12"])
for accuracy in done.accuracies:
    print(f"{accuracy.pck_at[20]:.2f}  {accuracy.normalization}")

run = rushes.read_run(done.run)
print(run.table("pck", k=20))
print(run.one("pck", k=20, norm="torso-diameter").signature)
