"""Joining a Ray cluster, or starting Ray on this machine alone; quiet either way.

Ray is imported when it is asked for, and never before.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from rushes.core.errors import InputError
from rushes.core.machine.installing import not_installed
from rushes.core.words.options import option
from rushes.workers.local import cpu_count

_STORE_BYTES = 256 << 20
"""Shared memory of a Ray started here: results are small and are taken out as they come."""
_PROBE_S = 5.0
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Nothing is reported to anyone, and a notice about GPUs stays out of stderr."""


def load_ray() -> Any:
    """The `ray` module; `MissingDependency` with the install line where it is not there."""
    try:
        import ray
    except ImportError:
        raise not_installed(f"{option('--engine ray')} needs Ray", extra="ray") from None
    return ray


@contextmanager
def session(address: str | None, *, jobs: int | None = None) -> Iterator[None]:
    """Connected to Ray while inside; a connection that was there before is used, and stays.

    Without an address: RAY_ADDRESS where it is set, otherwise a Ray of this machine with `jobs` cores (all of them when
    left out), which ends with the session.
    """
    ray = load_ray()
    if ray.is_initialized():
        yield
        return
    with _quiet_environment(), _no_printing(ray):
        _connect(ray, address or os.environ.get("RAY_ADDRESS"), jobs)
        try:
            yield
        finally:
            ray.shutdown()


def _connect(ray: Any, address: str | None, jobs: int | None) -> None:
    if address is not None:
        _probe(address)
    own: dict[str, object] = {
        "num_cpus": jobs or cpu_count(),
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
    }
    logging.getLogger("ray").setLevel(logging.ERROR)
    options: dict[str, object] = {"address": address or "local"} | ({} if address else own)
    with _stderr_aside() as aside:
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise InputError(why(address, " ".join(str(error).split()), aside.read_bytes())) from None


def why(address: str | None, reason: str, noise: bytes) -> str:
    """One line for a cluster that could not be joined or started; Ray spreads its reasons over stderr."""
    if address is None:
        return f"Ray cannot be started on this machine ({reason})"
    if b"AuthToken" in noise or "token" in reason:
        have = "with RAY_AUTH_TOKEN or ~/.ray/auth_token as its nodes have it"
        return f"{address}: the Ray cluster asks for its token; set RAY_AUTH_MODE=token, {have}"
    return f"{address}: cannot join this Ray cluster ({reason}); check the address and Ray's version there"


def _probe(address: str) -> None:
    """Ray waits long for a head that is not there: look first."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or "/" in host:
        raise InputError(f"a Ray address is host:port or auto; RAY_ADDRESS is {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PROBE_S).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"{address}: no Ray cluster answers ({error}); check {option('--address')}") from None


@contextmanager
def _stderr_aside() -> Iterator[Path]:
    """What is written to stderr meanwhile goes into a file: Ray's core writes there past any logging."""
    sys.stderr.flush()
    with NamedTemporaryFile(prefix="rushes-ray-") as aside:
        stderr = os.dup(2)
        os.dup2(aside.fileno(), 2)
        try:
            yield Path(aside.name)
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)


@contextmanager
def _no_printing(ray: Any) -> Iterator[None]:
    """Keep Ray from printing on our stdout that a worker or a node died: the engine sees it and acts.

    `log_to_driver=False` leaves these messages alone; the switch that Ray's own debugger uses does not.
    """
    inside, switch = ray._private.worker, "_worker_logs_enabled"
    before = getattr(inside, switch, True)
    setattr(inside, switch, False)
    try:
        yield
    finally:
        setattr(inside, switch, before)


@contextmanager
def _quiet_environment() -> Iterator[None]:
    added = [name for name in _QUIET if name not in os.environ]
    os.environ.update({name: _QUIET[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
