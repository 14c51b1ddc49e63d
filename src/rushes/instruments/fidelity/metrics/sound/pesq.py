"""How good speech sounds next to the reference, as ITU-T P.862 hears it: pesq_wb and pesq_nb.

The model is the ITU's own program, which the package `pesq` compiles and calls. It is not part of Rushes: the extra
`sound` installs it, which takes a C compiler, and its terms allow evaluation and research only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import metadata, util
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.machine.installing import not_installed
from rushes.instruments.fidelity.metric import PairMetric, Seen
from rushes.instruments.fidelity.pairs.sound import GEN, GT, RATE, SOUND_EDGES, SOUND_PARAMS, SoundObserver

Array: TypeAlias = NDArray[np.float64]

_EDGES = (
    f"{SOUND_EDGES} No speech found in the reference, or less than a quarter of a second: no value. It aligns level "
    "and delay by itself, stretch by stretch. It was made for 8 to 30 s of speech and holds no more than 50 "
    "utterances, which 20 s cannot exceed: a longer sound is cut into equal pieces of up to 20 s, and the mean of "
    "those with a score is the value. On music it means nothing."
)
PIECE_S = 20
"""Utterances last 200 ms at least and lie more than 200 ms apart. A 51st would be written past the end of the program's
tables, and take the process with it."""
_LICENCE = "the ITU's program by the package pesq, whose terms allow evaluation and research only"
_LOWERED = ("another voice or another take of the same words", "music or effects under the voice")
_RAISED = ("long silences",)


def _definition(name: str, summary: str, mapping: str, reference: str, band: str) -> Definition:
    return Definition(
        name=name,
        unit="MOS",
        lowest=0.999,
        highest=4.999,
        better="higher",
        summary=summary,
        formula=f"0.999 + 4 / (1 + e^({mapping})), p the raw score of P.862 at 16 kHz, {band}",
        edge_cases=_EDGES,
        reference=f"{reference}; {_LICENCE}",
        params=(*SOUND_PARAMS, *signature_params(mode=name.removeprefix("pesq_"), piece_s=PIECE_S, pieces="mean")),
        open_params=("engine",),
        raised_by=_RAISED,
        lowered_by=_LOWERED,
    )


PESQ_WB = _definition(
    "pesq_wb",
    "How good the speech sounds next to the reference, at the full width of a voice (50 to 7000 Hz).",
    "−1.3669·p + 3.8224",
    "ITU-T P.862.2",
    "wide band",
)
PESQ_NB = _definition(
    "pesq_nb",
    "How good the speech sounds next to the reference, as through a telephone (300 to 3400 Hz).",
    "−1.4945·p + 4.6607",
    "ITU-T P.862.1",
    "narrow band",
)


def _require(models: Mapping[str, str]) -> None:
    if util.find_spec("pesq") is None:
        raise not_installed("PESQ needs the package pesq, compiled on installation", extra="sound")


def _pool(definition: Definition, seen: Seen, series: str) -> Measurement:
    named, mode = definition.with_params(engine=f"pesq-{metadata.version('pesq')}"), series.removeprefix("pesq_")
    found = [_score(gt, gen, mode) for gt, gen in _pieces(seen.series[GT], seen.series[GEN])]
    scores = [score for score in found if not isinstance(score, str)]
    if not scores:
        return Measurement.missing(named, f"PESQ gives no score: {found[0]}")
    silent = len(found) - len(scores)
    note = f"{silent} of {len(found)} pieces of up to {PIECE_S} s have no score" if silent else ""
    return Measurement(definition=named, value=math.fsum(scores) / len(scores), count=len(scores), note=note)


def _pieces(gt: Array, gen: Array) -> list[tuple[Array, Array]]:
    """Both sounds in equal pieces of up to 20 s."""
    count = -(-len(gt) // (PIECE_S * RATE))
    edges = [number * len(gt) // count for number in range(count + 1)]
    return [(gt[low:high], gen[low:high]) for low, high in pairwise(edges)]


def _score(gt: Array, gen: Array, mode: str) -> float | str:
    """The score of one piece, or why there is none."""
    from pesq import PesqError, pesq

    if not gt.any() or not gen.any():
        return "a silent piece"
    try:
        return float(pesq(RATE, gt, gen, mode))
    except PesqError as error:
        why = error.args[0] if error.args else error
        return why.decode("ascii", "replace") if isinstance(why, bytes) else str(why)


def _metric(definition: Definition, label: str) -> PairMetric:
    name = definition.name
    return PairMetric(
        definition=definition, label=label, observe=SoundObserver, series=name, pool=_pool, require=_require
    )


PESQ_WB_METRIC = _metric(PESQ_WB, "PESQ-WB")
PESQ_NB_METRIC = _metric(PESQ_NB, "PESQ-NB")
