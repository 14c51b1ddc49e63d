"""What a store's client raises, in one line about the address; credentials and signed queries are never repeated."""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rushes.core.errors import InputError

_CREDENTIALS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS",
}


class RemoteError(InputError):
    """A bucket or an object cannot be used: check the address and the credentials."""


class Vanished(RemoteError):
    """There is no such object, or it is not the one that was listed."""


class Unreachable(RemoteError):
    """The store did not answer, again and again: run the command again later."""


class Exists(RemoteError):
    """An object that was to be created is there already."""


_FAULTS = {
    "botocore.exceptions": ("BotoCoreError", "ClientError"),
    "aiohttp": ("ClientError",),
    "google.auth.exceptions": ("GoogleAuthError",),
    "gcsfs.retry": ("HttpError",),
}
_NETWORK = {"HTTPClientError", "ConnectionError", "ClientConnectionError", "TransportError", "TimeoutError"}
_NO_KEY = {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "DefaultCredentialsError"}
_NOT_AUTHORISED = {"RefreshError", "TokenRetrievalError", "UnauthorizedSSOTokenError"}


def _faults() -> tuple[type[BaseException], ...]:
    """What a store's client raises, of those clients that are loaded."""
    named = [(sys.modules.get(module), names) for module, names in _FAULTS.items()]
    return (OSError, ValueError, *(getattr(module, name) for module, names in named if module for name in names))


@contextmanager
def plain_errors(url: str) -> Iterator[None]:
    """Turn what a store's client raises into one line about the address."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, _faults()):
            raise
        raise in_words(url, error) from None


def in_words(url: str, error: BaseException) -> RemoteError:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    text = str(error)
    if isinstance(error, FileExistsError) or "PreconditionFailed" in text or "ConditionalRequestConflict" in text:
        return Exists(f"{url}: already exists")
    if isinstance(error, FileNotFoundError):
        return Vanished(f"{url}: no such {'bucket' if 'bucket' in text.lower() else 'object'}")
    if kinds & _NO_KEY or "Anonymous caller" in text:
        return RemoteError(f"{url}: no credentials were found; {_CREDENTIALS[url[:2].lower().replace('gc', 'gs')]}")
    refused = getattr(error, "code", None) in (401, 403) or text.startswith("Forbidden")
    if isinstance(error, PermissionError) or kinds & _NOT_AUTHORISED or refused:
        return RemoteError(f"{url}: access is denied; check the credentials and the bucket's policy")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RemoteError(f"{url}: the disk is full; point TMPDIR at a larger one")
    detail = re.sub(r"\?\S*", "", " ".join(text.split()))[:200] or type(error).__name__
    if kinds & _NETWORK or isinstance(error, OSError):
        return Unreachable(f"{url}: the bucket does not answer ({detail})")
    return RemoteError(f"{url}: the bucket refused ({detail})")
