"""Review signals of two runs over the same clips: on how many clips a rule fired in each, and whether that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rushes.compare.comparison import column_statistics
from rushes.compare.readings.clip_pairing import Pairing
from rushes.core import Measurement
from rushes.core.reason import SIGNALS, ranked
from rushes.instruments.clip.readings import signal_definition
from rushes.storage.columns import reason_kinds
from rushes.storage.runs import Run, Subject

SURE = 0.05
"""What p, times the runs that are compared with the first (Bonferroni), is at the most where one has "more" of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalChange:
    """How many of the clips in both runs are flagged or rejected, where the two runs differ in that."""

    word: str
    """ "flagged", "rejected" or "flagged or rejected"."""
    first: int
    second: int
    clips: int
    """Clips with a review signal in both runs."""
    kind: str
    """The commonest reason in the run that has more of them: "flickers"; "" where none is stored."""
    p: Measurement
    """Exact sign test on the clips that changed (McNemar)."""
    tests: int = 1
    """Runs that are compared with the first, this one among them."""

    @property
    def significant(self) -> bool:
        return self.p.value is not None and float(self.p.value) * self.tests <= SURE

    def sentence(self, name: str, against: str) -> str:
        """ "B has more clips flagged: 17 of 17 (flickers), A 7 of 17."; "more" where the test is significant."""
        more = self.second > self.first
        kind = f" ({self.kind})" if self.kind else ""
        counts = f"{self.second} of {self.clips}", f"{self.first} of {self.clips}"
        noun = "clip" if self.clips == 1 else "clips"
        if not self.significant:
            first, second = (kind, "") if more else ("", kind)
            told = f"{name}: {counts[0]} {noun} {self.word}{first}, {against}: {counts[1]}{second}"
            return f"{told}; not significant."
        if more:
            return f"{name} has more clips {self.word}: {counts[0]}{kind}, {against} {counts[1]}."
        return f"{name} has fewer clips {self.word}: {counts[0]}, {against} {counts[1]}{kind}."


def signal_change(a: Run, b: Run, pairing: Pairing) -> SignalChange | None:
    """What the review signals of clips in both runs say; None where as many are flagged and rejected in both."""
    definitions = [signal_definition(run) for run in (a, b)]
    both = zip(pairing.first, pairing.second, strict=True)
    clips = [(one, other) for one, other in both if one.badge in SIGNALS and other.badge in SIGNALS]
    if definitions[0] is None or definitions[0] != definitions[1] or not clips:
        return None
    badges = [np.array([subject.badge for subject in side]) for side in zip(*clips, strict=True)]
    for badge, rejects in (("pass", False), ("reject", True)):
        has = [side == badge for side in badges]
        counts = [int(np.count_nonzero(side == rejects)) for side in has]
        if counts[0] != counts[1]:
            values = (side.astype(np.float64) for side in has)
            p = column_statistics(definitions[0], (("badge", badge),), *values, flags=True).p
            most = int(counts[1] > counts[0])
            word = "rejected" if rejects else _word(badges)
            first, second = counts
            kind = _kind([pair[most] for pair in clips])
            return SignalChange(word=word, first=first, second=second, clips=len(clips), kind=kind, p=p)
    return None


def _word(badges: Sequence[np.ndarray]) -> str:
    words = (("flagged", "flagged"), ("reject", "rejected"))
    return " or ".join(word for badge, word in words if any((side == badge).any() for side in badges))


def _kind(subjects: Sequence[Subject]) -> str:
    """What came up on most clips."""
    kinds = ranked(Counter(kind for subject in subjects if subject.why for kind in reason_kinds(subject)))
    return kinds[0][0] if kinds else ""
