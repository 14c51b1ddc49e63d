"""PPI++ by the authors' package: its numbers stand in `tests/stats/test_prediction_powered.py`.

python -m venv /tmp/oracle-ppi && /tmp/oracle-ppi/bin/pip install ppi-python==0.2.3
/tmp/oracle-ppi/bin/python tests/oracle/ppi_package.py
"""

import math

import numpy as np

CASES = ("useful", "useless", "against", "wide")


def study(case: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ratings, the metric on the same prompts, the metric on others: made of sines, the same everywhere."""
    y = [3 + 2 * math.sin(1.7 * i) for i in range(25)]
    noise = [math.sin(12.9898 * i + 1) for i in range(85)]
    f = {
        "useful": [0.8 * y[i] + noise[i] for i in range(25)],
        "useless": [noise[i] for i in range(25)],
        "against": [5 - y[i] + noise[i] for i in range(25)],
        "wide": [0.1 * y[i] + 0.02 * noise[i] for i in range(25)],
    }[case]
    scale = {"useful": 1.6, "useless": 0.0, "against": -2.0, "wide": 0.2}[case]
    centre, rough = (0.3, 0.02) if case == "wide" else (2.5, 1.0)
    g = [centre + scale * math.sin(2.3 * i) + rough * noise[i] for i in range(25, 85)]
    return np.array(y), np.array(f), np.array(g)


if __name__ == "__main__":
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    for case in CASES:
        y, f, g = study(case)
        mean = ppi_mean_pointestimate(y, f, g)
        low, high = ppi_mean_ci(y, f, g, alpha=0.05)
        print(f'    "{case}": ({float(mean[0]):.12f}, {float(low[0]):.12f}, {float(high[0]):.12f}),')
