"""FVD of two sets. With random weights the number compares only with itself; its signature says so."""

import rushes
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from samples import make_clips

make_clips("real", frames=16)
make_clips("generated", frames=16, contrast=20)
weights = write_random_checkpoint("i3d", "i3d-random.pt")

found = rushes.compare_sets("generated", "real", metrics="fvd", weights=weights, device="cpu")
print(found["fvd"].value)
print(found["fvd"].signature)
