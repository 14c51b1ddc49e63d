"""Which clip of one run goes with which of another: by id, unless the paths say that they are two different clips.

Files of poses over the same true clips pair by the truth, whatever the predictions' files are called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Subjects of two runs, by id, in the first run's order."""

    paired: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    doubtful: tuple[str, ...]
    """Ids that both runs have, for two clips of which one has a namesake in the other run that fits better."""
    first: Sequence[Subject]
    """The first run's subjects of those that are paired, in order."""
    second: Sequence[Subject]


def pair_subjects(first: Run, second: Run) -> Pairing:
    """Pair by id; ids come from relative paths.

    Edge case   ids of files that were given one by one, and of runs that numbered namesakes, need not carry the
                folder: `A/p1/out.mp4` and `B/p2/out.mp4` are then both called `out`. Where the first run has a `p2/out`
                as well, the two are no pair, and which clip was meant is not guessed.
    """
    ours, theirs = map(_parts_of, (first, second))
    both, others = ([subject.id for subject in side] for side in (ours, theirs))
    alone: list[list[str]] = [[], []]
    if both != others:  # runs of the same clips, as most are, need no look-up
        one, other = ({subject.id: subject for subject in side} for side in (ours, theirs))
        both = [name for name in one if name in other]
        alone = [[name for name in one if name not in other], [name for name in other if name not in one]]
        ours, theirs = ([side[name] for name in both] for side in (one, other))
    paths, beside = ([subject.path for subject in side] for side in (ours, theirs))
    every, rest = ([subject.path for subject in run.subjects] for run in (first, second))
    doubtful = set()
    if not _in_two_folders(paths, beside, every, rest):
        doubtful = _doubtful(ours, paths, beside, every, rest)
    if doubtful:
        ours, theirs = ([subject for subject in side if subject.id not in doubtful] for side in (ours, theirs))
    return Pairing(
        paired=tuple(name for name in both if name not in doubtful),
        only_first=tuple(alone[0]),
        only_second=tuple(alone[1]),
        doubtful=tuple(name for name in both if name in doubtful),
        first=ours,
        second=theirs,
    )


def _in_two_folders(ours: list[str], theirs: list[str], one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether each pair has one path below its run's own folder, and no path of the other run has that folder's name.

    Then no clip has a better partner. It is the usual case, and seen without taking 200,000 paths apart. `one` and
    `other` are all paths of the runs.
    """
    if ours == theirs:
        return True
    a, b = ours[0].split("/"), theirs[0].split("/")
    while a and b and a[-1] == b[-1]:
        a.pop()
        b.pop()
    if not a or not b:
        return False
    every, others = ("\0" + "\0".join(paths) + "\0" for paths in (one, other))
    strange = [sign for sign in _UNUSUAL if sign in every or sign in others]
    if strange or _has_folder(every, b[-1]) or _has_folder(others, a[-1]):
        return False
    start, end = "/".join(a) + "/", "/".join(b) + "/"
    below, beside = ([path[len(root) :] for path in paths] for paths, root in ((ours, start), (theirs, end)))
    starts = (all(path.startswith(root) for path in paths) for paths, root in ((ours, start), (theirs, end)))
    return below == beside and all(starts)


_UNUSUAL = ("//", "/./", "\0./", "/\0")
"""What `_parts` reads in another way than at each "/"."""


def _has_folder(paths: str, name: str) -> bool:
    return f"/{name}/" in paths or f"\0{name}/" in paths


def _doubtful(
    subjects: Sequence[Subject], ours: Sequence[str], theirs: Sequence[str], one: Sequence[str], other: Sequence[str]
) -> set[str]:
    """Of ids that both runs have, those of which one clip has a better partner than the other."""
    tails, others = _Tails(map(_parts, one)), _Tails(map(_parts, other))
    shared = _longest_shared(tails, others)  # two paths that end alike in as many parts have no better partner
    return {
        subject.id
        for subject, a, b in zip(subjects, map(_parts, ours), map(_parts, theirs), strict=True)
        if a[-shared:] != b[-shared:] and subject.kind in ("clip", "pair") and _fits_another(a, b, tails, others)
    }


def _parts_of(run: Run) -> list[Subject]:
    """The run's subjects; a set that stands beside its own members is left out: it repeats what they say."""
    members = [subject for subject in run.subjects if subject.kind != "set"]
    return members or list(run.subjects)


def _parts(path: str) -> tuple[str, ...]:
    if "://" in path and is_remote(path):
        path = path.partition("://")[2]
    if path in ("", ".", "/") or path.startswith("./") or path.endswith("/") or "//" in path or "/./" in path:
        whole = PurePosixPath(path)
        return (*whole.parts[:-1], whole.stem)
    *folders, name = path.split("/")  # as above, and ten times as quick
    if folders and not folders[0]:
        folders[0] = "/"
    stem, dot, ending = name.rpartition(".")
    return (*folders, stem if dot and stem and ending else name)


class _Tails:
    """The ends of every path, by how many parts they have: ("out",), then ("p1", "out"), then ("A", "p1", "out")."""

    def __init__(self, paths: Iterable[tuple[str, ...]]) -> None:
        self._paths = list(paths)
        self._found: dict[int, set[tuple[str, ...]]] = {}

    def of(self, length: int) -> set[tuple[str, ...]]:
        """The ends with so many parts."""
        if length not in self._found:
            self._found[length] = {path[-length:] for path in self._paths if len(path) >= length}
        return self._found[length]

    def __contains__(self, tail: tuple[str, ...]) -> bool:
        return tail in self.of(len(tail))


def _longest_shared(one: _Tails, other: _Tails) -> int:
    """Parts of the longest end that some path of each run has; at least 1."""
    length = 1
    while not one.of(length + 1).isdisjoint(other.of(length + 1)):
        length += 1
    return length


def _fits_another(one: tuple[str, ...], other: tuple[str, ...], tails: _Tails, others: _Tails) -> bool:
    """Whether either path shares a longer end with some path of the run that the other one is in."""
    common = 0
    while common < min(len(one), len(other)) and one[-common - 1] == other[-common - 1]:
        common += 1
    longer = common + 1
    return (len(other) >= longer and other[-longer:] in tails) or (len(one) >= longer and one[-longer:] in others)


def called_alike(first: Run, second: Run) -> Run:
    """The second run, its pose files called as the first run's with the same truth; other runs as they are.

    A truth that a run has twice says nothing about which prediction is meant: those stay as they are called.
    """
    if first.instrument != "pose" or second.instrument != "pose":
        return second
    ours, theirs = _by_truth(first), _by_truth(second)
    names = {theirs[truth]: name for truth, name in ours.items() if truth in theirs}
    kept = {subject.id for subject in second.subjects} - names.keys()
    names = {old: new for old, new in names.items() if old != new and new not in kept}
    if not names:
        return second
    return replace(
        second,
        subjects=tuple(replace(subject, id=names.get(subject.id, subject.id)) for subject in second.subjects),
        measurements={names.get(name, name): numbers for name, numbers in second.measurements.items()},
    )


def _by_truth(run: Run) -> dict[str, str]:
    """Ids by the digest of the truth, where that is the truth of one subject alone."""
    digests = {subject.id: digest for subject in run.subjects if (digest := _truth(subject))}
    often = Counter(digests.values())
    return {digest: name for name, digest in digests.items() if often[digest] == 1}


def _truth(subject: Subject) -> str:
    reference = subject.facts.get("reference")
    digest = reference.get("sha256") if isinstance(reference, Mapping) else None
    return digest if isinstance(digest, str) and subject.kind == "pose" else ""
