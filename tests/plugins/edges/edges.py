"""edge_error: how far the edges of a picture are from its reference's. A fidelity metric in a package of its own."""

import numpy as np

from rushes.core import Definition, signature_params
from rushes.instruments.fidelity import PairMetric, Seen

EDGE_ERROR = Definition(
    name="edge_error",
    unit="luma levels",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="Mean difference of horizontal steps between a picture and its reference.",
    formula="mean over frames of mean|Δx Y_gen − Δx Y_gt|",
    edge_cases="A picture one pixel wide has no steps.",
    reference="none: an example",
    params=signature_params(plane="luma", range="full"),
)


class Edges:
    def __init__(self, context):
        self.errors = []

    def add(self, pair):
        gen, gt = (np.diff(side.luma.full_range(), axis=1) for side in (pair.gen, pair.gt))
        self.errors.append(np.abs(gen - gt).mean())

    def finish(self):
        return Seen(series={"edge_error": np.array(self.errors)})


def broken(context):
    raise ZeroDivisionError("a fault of its own")


EDGES = PairMetric(definition=EDGE_ERROR, label="edges", observe=Edges, series="edge_error")
BROKEN = PairMetric(
    definition=Definition(
        name="broken_error", unit="1", lowest=0, highest=1, better="lower", summary="Fails.", formula="none"
    ),
    label="broken",
    observe=broken,
    series="broken_error",
)


def fidelity_fault(name, finish):
    """A metric whose `finish` gives something else than it should."""
    observer = type(name, (Edges,), {"finish": finish, "__module__": __name__})
    definition = Definition(name=name, unit="1", lowest=None, highest=None, better="lower", summary="Bad.", formula="x")
    return PairMetric(definition=definition, label=name, observe=observer, series=name)


GIVES_NONE = fidelity_fault("gives_none", lambda self: None)
GIVES_A_LIST = fidelity_fault("gives_a_list", lambda self: Seen(series={"gives_a_list": list(self.errors)}))
GIVES_TOO_FEW = fidelity_fault("gives_too_few", lambda self: Seen(series={"gives_too_few": np.zeros(2)}))
GIVES_ANOTHER = fidelity_fault("gives_another", lambda self: Seen(series={"something": np.zeros(len(self.errors))}))
