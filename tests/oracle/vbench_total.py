"""VBench's own script on scores, for tests/goldens/vbench_total.json.

    python tests/oracle/vbench_total.py VBENCH/scripts tests/goldens/vbench_total.json    # checkout 45e79ec

Twenty sets of sixteen random scores, and ten of the nine of image to video: what its functions return, to the last bit.
"""

from __future__ import annotations

import importlib
import json
import random
import sys


def main(scripts: str, out: str) -> None:
    sys.path.insert(0, scripts)
    constant = importlib.import_module("constant")
    t2v, i2v = (importlib.import_module(name) for name in ("cal_final_score", "cal_i2v_final_score"))
    chance = random.Random(17)
    cases = []
    for _ in range(20):
        scores = {name: chance.uniform(0, 1) for name in constant.TASK_INFO}
        norm = t2v.get_nomalized_score(scores)
        quality, semantic = t2v.get_quality_score(norm), t2v.get_semantic_score(norm)
        cases.append(
            {
                "scores": {name.replace(" ", "_"): value for name, value in scores.items()},
                "quality": quality,
                "semantic": semantic,
                "total": t2v.get_final_score(quality, semantic),
            }
        )
    for _ in range(10):
        scores = {name: chance.uniform(0, 1) for name in constant.I2VKEY}
        norm = i2v.get_nomalized_score({constant.I2VKEY[name]: value for name, value in scores.items()})
        quality, image = i2v.get_i2v_quality_score(norm), i2v.get_i2v_score(norm)
        cases.append({"scores": scores, "quality": quality, "i2v": image, "total": i2v.get_final_score(quality, image)})
    with open(out, "w", encoding="utf-8") as file:
        file.write(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
