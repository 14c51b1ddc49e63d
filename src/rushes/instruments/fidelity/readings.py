"""What boards show of a fidelity run: every metric of its pairs, each with the digest of its reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from rushes.core import Definition, Measurement
from rushes.core.reading import Reading, group_readings
from rushes.instruments.fidelity.pairs.lag import LAG_FRAMES
from rushes.instruments.fidelity.show.tables import metric_of, reference_of
from rushes.storage.runs import Run


def readings(run: Run) -> Iterator[Reading]:
    """Of the pairs; the set beside them repeats what they say, and a lag is no quality of a clip."""
    pairs = [entry for entry in run.entries if entry.subject.kind == "pair"]
    digests = {entry.subject.id: digest for entry in pairs if (digest := reference_of(entry)[1]) is not None}
    whole = ((e.subject.id, m) for e in pairs for m in e.measurements if not m.at and m.definition != LAG_FRAMES)
    for reading in group_readings(whole):
        head = head_of(reading.definition)
        yield replace(reading, label=head, instrument="fidelity", references=digests, lane=head)


@cache
def head_of(definition: Definition) -> str:
    """What columns call it: "PSNR-Y"."""
    found = metric_of(Measurement.missing(definition, "asked for its column"))
    return found[1].label if found else definition.name
