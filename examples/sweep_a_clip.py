"""Does the badge hold when the clip gets darker? A sweep, and the two numbers that say how stable it is."""

import rushes
from samples import make_clips

make_clips("takes", count=1)
rushes.sweep_clips("takes/take1.mp4", axes={"brightness": [1.0, 0.6, 0.2]}, seeds=[1], out="sweep")

result = rushes.robustness.MetricsEngine().compute("sweep")
print("ESI", result.esi)
print("drift", result.drift)
