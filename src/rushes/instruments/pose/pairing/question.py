"""What is asked of a pair of pose files, and what of it is in every signature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.json_poses import Duplicates
from rushes.instruments.pose.files.poses import Columns
from rushes.instruments.pose.pairing.files import Pairing, Unmatched
from rushes.instruments.pose.pairing.people import Assign
from rushes.instruments.pose.scores.normalization import DEFAULT_PX
from rushes.instruments.pose.scores.pck import checked_ks
from rushes.instruments.pose.scoring import Root

DEFAULT_KS = (5, 10, 20, 50)
LARGEST_LAG = 1000

PairBy: TypeAlias = Literal["auto", "order", "time", "dtw"]
Fit: TypeAlias = Literal["refuse", "scale"]


class PoseOptions(TypedDict, total=False):
    """The fields of a `PoseQuestion`, by name."""

    norms: str | Iterable[str]
    ks: float | Iterable[float]
    skeleton: str | None
    hips: tuple[int, int] | None
    head: tuple[int, int] | None
    columns: Columns | None
    dims: Literal[2, 3] | None
    unit: str | None
    root: Root
    px: float
    pair: PairBy
    lag: int
    fit: Fit
    duplicates: Duplicates
    assign: Assign | None
    unmatched: Unmatched
    floor: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseQuestion:
    """How poses are read, put together and scored; `score_pose` says what each field means."""

    norms: str | Iterable[str] = ()
    ks: float | Iterable[float] = DEFAULT_KS
    skeleton: str | None = None
    hips: tuple[int, int] | None = None
    head: tuple[int, int] | None = None
    columns: Columns | None = None
    dims: Literal[2, 3] | None = None
    unit: str | None = None
    root: Root = "as-given"
    px: float = DEFAULT_PX
    pair: PairBy = "auto"
    lag: int = 0
    fit: Fit = "refuse"
    duplicates: Duplicates = "refuse"
    assign: Assign | None = None
    unmatched: Unmatched = "skip"
    floor: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.lag, bool) or not isinstance(self.lag, int) or not 0 <= self.lag <= LARGEST_LAG:
            raise InputError(
                f"{option('--lag')} is how many frames to search each way, 0 to {LARGEST_LAG}; got {self.lag!r}"
            )
        if self.pair not in ("auto", "order", "time", "dtw"):
            raise InputError(f"{option('--pair')} is auto, order, time or dtw; got {self.pair!r}")
        if self.fit not in ("refuse", "scale"):
            raise InputError(f"{option('--fit')} is refuse or scale; got {self.fit!r}")
        if self.lag and self.pair not in ("auto", "order"):
            raise InputError(
                f"{option('--lag')} shifts frames in order; with {option(f'--pair {self.pair}')} they are not: give "
                "one of the two"
            )
        if self.duplicates != "refuse" and (self.lag or self.pair != "auto"):
            raise InputError(
                f"several people in an image are paired by image id; leave {option('--pair')} and {option('--lag')} out"
            )
        if self.unmatched == "wrong" and (self.lag or self.pair in ("time", "dtw")):
            raise InputError(
                f"{option('--unmatched wrong')} counts frames by image id or in order; leave {option('--pair')} and "
                f"{option('--lag')} out"
            )

    def wanted_ks(self) -> tuple[int, ...]:
        """The ks, checked, ascending."""
        asked = [self.ks] if isinstance(self.ks, (int, float)) else list(self.ks)
        if not asked:
            raise InputError("expected at least one k, such as --k 20; got none")
        return tuple(checked_ks(asked))

    def labels(
        self, pred: PoseSet, gt: PoseSet, pairing: Pairing, assign: Assign | None
    ) -> tuple[tuple[str, str], ...]:
        """What departs from the plainest case (joints as they are, frames in order, one pose each)."""
        labels = {
            "pair": "" if pairing.by == "order" else pairing.by.replace(" ", "-"),
            "lag": f"best-of-{self.lag}" if self.lag else "",
            "fit": "" if self.fit == "refuse" else self.fit,
            "duplicates": "" if self.duplicates == "refuse" else self.duplicates,
            "assign": assign or "",
            "pred_joints": pred.picked_from or "",
            "truth_joints": gt.picked_from or "",
        }
        return tuple((key, value) for key, value in labels.items() if value)

    def stored(self) -> dict[str, object]:
        """What a run keeps of it beside what the scored pair says; defaults of newer options are left out, so that a
        run of an older version goes on."""
        plain, newer = PoseQuestion(), ("pair", "lag", "fit", "assign", "floor")
        asked = {"columns": self.columns or "", "duplicates": self.duplicates, "unmatched": self.unmatched}
        return asked | {key: value for key in newer if (value := getattr(self, key)) != getattr(plain, key)}
