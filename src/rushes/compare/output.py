"""Where pages and tables go: into a file here, or in a store."""

from __future__ import annotations

from pathlib import Path

from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.storage.remote.address import is_remote
from rushes.storage.remote.transfer import upload_on_exit


def written_page(html: str) -> str:
    """A page as a file can have it: a file name from a run can hold half a surrogate pair, which no file can."""
    return html.encode("utf-8", "replace").decode()


def write_out(out: Path | str, text: str, what: str) -> Path | str:
    """Write it whole, or raise `InputError` that names `what`; where it lies, or its address."""
    try:
        with upload_on_exit(out) as target, replacing(target) as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{out}: cannot write the {what} ({error.strerror or error})") from None
    return out if is_remote(out) else Path(out)
