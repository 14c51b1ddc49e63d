"""The columns of a paper's table: how each is headed, which numbers belong under it, and who measures it.

A column says which metric it shows, never how that was measured: two ways of measuring are two columns of the table,
each with its own signature.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from rushes.compare.questions import METRICS as KIND_METRICS
from rushes.core import Definition, Measurement
from rushes.core.definition import Better
from rushes.core.errors import InputError
from rushes.core.registry import catalogued
from rushes.core.selection import Measured
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.distribution.definitions import higher_is_better
from rushes.instruments.distribution.protocols import METRICS as SET_METRICS
from rushes.instruments.fidelity.metrics import METRICS as PAIR_METRICS

_Measured = TypeVar("_Measured", bound=Measured)
Source: TypeAlias = Literal["fidelity", "distribution", "clip", "run"]
"""The instrument that measures a column; "run" where `rushes paper` cannot, and a run has to have its numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column, as `--columns` names it."""

    name: str
    title: str
    """Its head, as papers print it: "FID-VID"."""
    source: Source
    better: Better
    metric: str
    """The name in the signatures of its numbers."""
    digits: int = 4
    """Decimals, unless others are asked for."""
    params: tuple[tuple[str, str], ...] = ()
    """What the signature must hold besides, where the column is about one reading of the metric alone."""

    @property
    def asks(self) -> str:
        """What its instrument calls it."""
        return self.name.partition(":")[0]

    def holds(self, measurement: Measurement) -> bool:
        """Whether a number belongs under this head by its signature."""
        return measurement.name == self.metric and self.fits(measurement.definition)

    def takes(self, name: str, label: str) -> bool:
        """Whether a pair metric belongs under this head: its own, or a protocol's reading of it, "PSNR (DisCo)"."""
        return name == self.asks or label.partition(" (")[0] == self.title

    def fits(self, definition: Definition) -> bool:
        """Whether a definition says what this column is narrowed down to."""
        return set(self.params) <= set(definition.params)


COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column("psnr", "PSNR", "fidelity", "higher", "psnr", digits=2),
        Column("ssim", "SSIM", "fidelity", "higher", "ssim"),
        Column("lpips", "LPIPS", "fidelity", "lower", "lpips"),
        Column("l1", "L1", "fidelity", "lower", "l1"),
        Column("fid-vid", "FID-VID", "distribution", "lower", "fid-vid", digits=2),
        Column("fvd", "FVD", "distribution", "lower", "fvd", digits=2),
        Column("csim", "CSIM", "fidelity", "higher", "identity_similarity"),
        Column("lmd", "LMD", "fidelity", "lower", "landmark_distance"),
        Column("sync-c", "Sync-C", "clip", "higher", "lse_c", digits=3),
        Column("sync-d", "Sync-D", "clip", "lower", "lse_d", digits=3),
    )
}
"""By name, in the order of a table. Any other metric of fidelity or distribution is a column too, by its own name."""
BY_NAME: dict[str, Column] = {
    "e-fid": Column("e_fid", "E-FID", "fidelity", "lower", "expression_frechet", digits=3),
    "wer": Column("wer", "WER", "clip", "lower", "word_error_rate", digits=3),
}
"""Columns that need more than clips and references, here the scripts: measured only where they are named."""
SHORTHANDS: dict[str, tuple[str, ...]] = {"sync": ("sync-c", "sync-d"), **KIND_METRICS}
"""Names for several columns at once: of a kind of video, the metrics that answer its questions."""


def chosen_columns(names: str | Iterable[str], *, of_runs: bool = False) -> tuple[Column, ...]:
    """The columns of these names, each once, in the given order; commas part names too.

    `psnr:plane=y` is about that reading of PSNR alone. `of_runs` allows every name that `rushes metrics` knows. Raises
    `InputError`, with the nearest names, for a column that is not known.

    >>> [column.title for column in chosen_columns("psnr,sync")]
    ['PSNR', 'Sync-C', 'Sync-D']
    >>> chosen_columns("psnr:plane=y")[0].params
    (('plane', 'y'),)
    """
    given = [names] if isinstance(names, str) else names
    words = [word.strip() for name in given for word in name.split(",")]
    spelt = dict.fromkeys(name for word in words for name in SHORTHANDS.get(word, (word,)))
    return tuple(_narrowed(name, of_runs) for name in spelt)


def catalogued_params(name: str) -> tuple[str, set[tuple[str, str]]]:
    """The metric that `rushes metrics NAME` shows, and the parameters the name fixes; ("", set()) for no metric."""
    if name in PAIR_METRICS:
        own = PAIR_METRICS[name].definition
        return own.name, set(own.params)
    found = catalogued(name)
    if not found:
        return "", set()
    shared = set.intersection(*(set(one.params) for one in found))
    return found[0].name, set() if len({one.name for one in found}) > 1 else shared


def exactly(name: str, found: Sequence[_Measured]) -> list[_Measured]:
    """Those that are measured as the metric of this name is; all of them where none is: `lmd` is not `mouth_lmd`."""
    if len(found) < 2:
        return list(found)
    params = catalogued_params(name)[1]
    return [one for one in found if params <= set(one.definition.params)] or list(found)


def _narrowed(text: str, of_runs: bool) -> Column:
    """A column, and what the signatures under it must say: "psnr:plane=y"."""
    name, colon, settings = text.partition(":")
    column = _known(name, of_runs)
    if not colon:
        return column
    pairs = [setting.partition("=") for setting in settings.split(":")]
    if not all(key and sign and value for key, sign, value in pairs):
        raise InputError(f"expected a column such as psnr, or psnr:plane=y; got {text!r}")
    params = tuple((key, value) for key, _, value in pairs)
    return replace(column, name=text, params=(*column.params, *params))


def _known(name: str, of_runs: bool) -> Column:
    usual = COLUMNS.get(name) or COLUMNS.get(name.lower()) or BY_NAME.get(name.lower())
    if usual is not None:
        return usual
    if name in PAIR_METRICS:
        metric = PAIR_METRICS[name]
        own = metric.definition
        return Column(name, metric.label or name, "fidelity", own.better, own.name, params=own.params)
    if name in SET_METRICS:
        return Column(name, name.upper(), "distribution", "higher" if higher_is_better(name) else "lower", name)
    if of_runs and (found := catalogued(name)):
        params = found[0].params if len(found) == 1 else ()
        return Column(name, name, "run", found[0].better, found[0].name, params=params)
    every = [*COLUMNS, *BY_NAME, *SHORTHANDS, *PAIR_METRICS, *SET_METRICS]
    hint = did_you_mean(name.lower(), every, otherwise=f"; expected some of {', '.join(COLUMNS)}")
    raise InputError(f"no column is called {name!r}{hint}")
