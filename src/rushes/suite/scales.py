"""One column on several scales: a share here and per cent there, a mean here and a sum over frames there.

Such a table looks whole and its means mean nothing. What gives it away is that the values of some systems lie together,
far from those of the others: further than either group is wide, though all were asked the same prompts. It is a
warning, not a proof: a number that each system has by its making (its frame rate) looks the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FEW = 5
"""With fewer values a system's width cannot be seen; then only a share beside something ten times as large tells."""
TIMES = 10.0


def scale_groups(values: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """Systems by the scale their values seem to be on, lowest first; one group where nothing speaks against one.

    Rule        neighbouring groups part where the gap between them is wider than each of the two (5 values a system or
                more), or where one lies within −1 to 1 and the other is 10 times further out

    >>> scale_groups({"a": [0.61, 0.83, 0.7], "b": [0.72, 0.9, 0.65], "c": [61.0, 83.0, 70.0]})
    [['a', 'b'], ['c']]
    """
    ends = sorted((min(found), max(found), name) for name, found in values.items() if len(found))
    groups: list[tuple[float, float, list[str]]] = []
    for low, high, name in ends:
        if groups and low <= groups[-1][1]:
            before = groups.pop()
            groups.append((before[0], max(before[1], high), [*before[2], name]))
        else:
            groups.append((low, high, [name]))
    found = groups[:1]
    for group in groups[1:]:
        if _apart(found[-1], group, values):
            found.append(group)
        else:
            last = found.pop()
            found.append((last[0], group[1], [*last[2], *group[2]]))
    return [sorted(names) for _, _, names in found]


def _apart(
    one: tuple[float, float, list[str]], other: tuple[float, float, list[str]], values: Mapping[str, Sequence[float]]
) -> bool:
    """Two groups of which the second lies higher."""
    share = -1.0 <= one[0] and one[1] <= 1.0 and other[0] >= TIMES * max(one[1], 0.1)
    many = min(len(values[name]) for name in (*one[2], *other[2])) >= FEW
    gap, width = other[0] - one[1], max(one[1] - one[0], other[1] - other[0])
    return share or (many and width > 0 and gap > width)


def scale_warning(name: str, values: Mapping[str, Sequence[float]]) -> str:
    """In words, on which scales a column seems to be; "" where it seems to be on one."""
    groups = scale_groups(values)
    if len(groups) < 2:
        return ""
    shown = [f"{_ends(group, values)} for {', '.join(group)}" for group in groups]
    return f"{name} seems to be on {len(groups)} scales: {'; '.join(shown)}"


def _ends(group: Sequence[str], values: Mapping[str, Sequence[float]]) -> str:
    found = [value for name in group for value in values[name]]
    return f"{min(found):.4g}" if min(found) == max(found) else f"{min(found):.4g} to {max(found):.4g}"
