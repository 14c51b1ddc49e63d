"""Where networks run and in what precision: what may be asked, and what it is where nobody asks."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from rushes.core.errors import InputError

Precision: TypeAlias = Literal["fp32", "tf32", "fp16"]


def working_precision(device: str, asked: Precision | None) -> Precision:
    """fp32 on a CPU; on a GPU what was asked for, or else tf32: torch's convolutions run in it unless told otherwise,
    and so most published values were made. `InputError` for what there is not.

    >>> working_precision("cuda", None), working_precision("cuda", "fp16"), working_precision("cpu", None)
    ('tf32', 'fp16', 'fp32')
    """
    if device not in ("cpu", "cuda"):
        raise InputError(f"a device is cpu or cuda; got {device!r}")
    if asked is not None and asked not in get_args(Precision):
        raise InputError(f"a precision is fp32, tf32 or fp16; got {asked!r}")
    if device == "cpu":
        if asked not in (None, "fp32"):
            raise InputError(f"a CPU computes in fp32; got precision {asked}")
        return "fp32"
    return asked or "tf32"
