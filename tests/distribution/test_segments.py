"""Which frames go through together: 10-, 16-, 17- and 40-frame videos under each rule."""

from __future__ import annotations

import pytest

from rushes.distribution.segments import Cut, random_start, segment_indices

RUN = list(range(16))


@pytest.mark.parametrize(
    ("total", "cut", "wanted"),
    [
        (10, "segments-repeat-last", [[*range(10), *[9] * 6]]),
        (16, "segments-repeat-last", [RUN]),
        (17, "segments-repeat-last", [RUN, [16] * 16]),
        (40, "segments-repeat-last", [RUN, list(range(16, 32)), [*range(32, 40), *[39] * 8]]),
        (10, "whole", [list(range(10))]),
        (17, "whole", [list(range(17))]),
        (40, "whole", [list(range(40))]),
        (10, "first", []),
        (16, "first", [RUN]),
        (17, "first", [RUN]),
        (40, "first", [RUN]),
        (10, "random", []),
        (16, "random", [RUN]),
        (0, "whole", []),
        (0, "segments-repeat-last", []),
    ],
)
def test_rules(total: int, cut: Cut, wanted: list[list[int]]) -> None:
    assert segment_indices(total, 16, cut) == wanted


def test_a_random_run_is_whole_and_depends_on_seed_and_name_only() -> None:
    runs = {name: segment_indices(40, 16, "random", seed=42, name=name)[0] for name in ("a", "b", "c", "d", "e")}
    for run in runs.values():
        assert run == list(range(run[0], run[0] + 16)) and 0 <= run[0] <= 24
    assert len({run[0] for run in runs.values()}) > 1
    assert runs["a"] == segment_indices(40, 16, "random", seed=42, name="a")[0]
    starts = [random_start(25, seed=seed, name="a") for seed in range(300)]
    assert set(starts) == set(range(25))
