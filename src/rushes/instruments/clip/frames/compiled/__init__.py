"""Inner loops that numba compiles, for a process that sees many frames."""


def warm() -> None:
    """Load them now, and go by them from here on: for a process that will see many, or that others are forked from."""
    from rushes.instruments.clip.frames import luma_sums
    from rushes.instruments.clip.frames.compiled import frame, samples

    luma_sums.warm()
    frame.load()
    samples.load()
