"""The folder here through which something is written to a store, and the lock that keeps a second writer out.

The folder is below `RUSHES_STAGING`, or `staging` in the cache, and belongs to one address. Two writers on one machine
are told apart by a file lock. Two machines by an object, `.rushes-lock`, that is created only where there is none, and
written again as a sign of life with every push; one without a sign of life for `DEAD_AFTER_S` is taken over, and one
whose process on this machine is gone at once. Ages are told by the two machines' clocks.

Runs are written by `mirrors.run`. `mirrored_folder` is for a folder of small finished files, such as a sweep: it is
made here and pushed as it grows.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from rushes.core.canonical import json_object
from rushes.core.errors import RunError, RushesError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.files import exclusive_lock, file_stamp
from rushes.core.machine.provenance import bytes_digest
from rushes.core.words.options import option
from rushes.storage.mirrors.pulling import listed, run_address
from rushes.storage.remote.address import is_remote, joined, safe_name
from rushes.storage.remote.errors import RemoteError, Unreachable, Vanished
from rushes.storage.remote.store import get_bytes, get_files, put_bytes, put_files, remove
from rushes.storage.remote.transfer import errors_about

LOCK = ".rushes-lock"
DEAD_AFTER_S = 120.0
_LAST = {"manifest.json": 1, "sweep_manifest.json": 2}
"""Files that say that others are there go out after them."""


def push_seconds() -> float:
    """How often work under way is pushed: what a killed writer can lose. `RUSHES_PUSH_SECONDS`, or 20."""
    try:
        return max(float(os.environ.get("RUSHES_PUSH_SECONDS", "20")), 0.05)
    except ValueError:
        return 20.0


class Staging:
    """A folder of this machine for one address, and both locks, from the opening to `close`.

    Files of the folder go to the address under their names below it, and come from there; what was pushed or fetched,
    and has not changed since, is not pushed again.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._pushed: dict[str, tuple[int, int]] = {}
        named = os.environ.get("RUSHES_STAGING")
        root = Path(named).expanduser() if named else cache_folder() / "staging"
        self._home = root / bytes_digest(url.encode())[:16]
        self.folder = self._home / safe_name(url)
        self._beside = self._home / ".pulled"
        self._token = secrets.token_hex(8)
        busy = RunError(f"{url}: another rushes process on this machine is writing it; wait for it")
        with ExitStack() as guard:
            try:
                root.mkdir(parents=True, exist_ok=True)  # the guard lies beside the home, which is removed under it
                guard.enter_context(exclusive_lock(self._home.with_suffix(".guard"), busy=busy))
                self._home.mkdir(exist_ok=True)
            except OSError as error:
                raise RunError(f"{self._home}: cannot be written ({error.strerror or error})") from None
            self._take_over()
            self._guard = guard.pop_all()

    def _take_over(self) -> None:
        address = joined(self.url, LOCK)
        if _read(address) is None and self._create(address):
            return
        holder = _read(address)
        if holder is not None and not _is_dead(holder):
            raise RunError(
                f"{self.url}: another rushes process is writing it; wait for it, or choose another {option('-o')} "
                f"(if that process has died, its lock {address} expires after {DEAD_AFTER_S:.0f} s)"
            )
        put_bytes(self._sign(), address)
        self.renew()

    def _create(self, address: str) -> bool:
        try:
            return put_bytes(self._sign(), address, create=True)
        except (Unreachable, Vanished):
            raise
        except RemoteError:  # some stores that speak S3 cannot create conditionally
            return put_bytes(self._sign(), address)

    def renew(self) -> None:
        """A sign of life; `RunError` when somebody else holds the lock by now."""
        address = joined(self.url, LOCK)
        holder = _read(address)
        if holder is not None and holder.get("token") != self._token:
            raise RunError(f"{self.url}: another rushes process has taken over this run; nothing more is written")
        put_bytes(self._sign(), address)

    def _sign(self) -> bytes:
        facts = {"token": self._token, "machine": _machine(), "pid": os.getpid(), "at": time.time()}
        return json.dumps(facts, sort_keys=True).encode()

    def emptied_beside(self) -> Path:
        """An empty folder next to the folder."""
        shutil.rmtree(self._beside, ignore_errors=True)
        self._beside.mkdir(parents=True)
        return self._beside

    def wipe(self) -> None:
        """Empty the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def fetch(self, names: Iterable[str]) -> None:
        """Bring objects into the folder."""
        names = list(names)
        get_files([(joined(self.url, name), self.folder / name) for name in names])
        self.mark_pushed(names)

    def mark_pushed(self, names: Iterable[str]) -> None:
        """Take files of the folder, where they are there, for what lies at the address."""
        here = ((name, self.folder / name) for name in names)
        self._pushed |= {name: file_stamp(file) for name, file in here if file.exists()}

    def is_new(self, file: Path) -> bool:
        """Whether a file is not, or not as it is now, at the address."""
        return self._pushed.get(self._name(file)) != file_stamp(file)

    def push(self, files: Iterable[Path]) -> None:
        """Push those of the files that are new, several at a time."""
        new = {self._name(file): file for file in files if file.is_file() and self.is_new(file)}
        stamps = {name: file_stamp(file) for name, file in new.items()}  # before: what is appended meanwhile is new
        put_files([(file, joined(self.url, name)) for name, file in new.items()])
        self._pushed |= stamps

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; a file of such a name is then new."""
        names = list(names)
        remove([joined(self.url, name) for name in names])
        for name in names:
            self._pushed.pop(name, None)

    def gone(self, below: str) -> list[str]:
        """Objects below a folder of this name whose files are here no more."""
        return [name for name in self._pushed if name.startswith(f"{below}/") and not (self.folder / name).exists()]

    def _name(self, file: Path) -> str:
        return file.relative_to(self.folder).as_posix()

    def close(self, *, keep: bool) -> None:
        """Give both locks back; `keep` leaves the folder, with work that did not get to the store."""
        address = joined(self.url, LOCK)
        try:
            holder = _read(address)
            if holder is not None and holder.get("token") == self._token:
                remove([address])
        except RemoteError:
            pass  # it ends by itself
        finally:
            shutil.rmtree(self._beside if keep else self._home, ignore_errors=True)
            self._guard.close()


def _read(address: str) -> dict[str, object] | None:
    try:
        return json_object(get_bytes(address))
    except Vanished:
        return None


def _is_dead(holder: dict[str, object]) -> bool:
    pid, at = holder.get("pid"), holder.get("at")
    if holder.get("machine") == _machine() and isinstance(pid, int) and not Path(f"/proc/{pid}").exists():
        return True
    return not isinstance(at, (int, float)) or abs(time.time() - at) > DEAD_AFTER_S


def _machine() -> str:
    """This machine, this start of it and this container: where a process number means the same process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{platform.node()} {boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"{platform.node()} {secrets.token_hex(4)}"  # cannot be told: never the same


class Pusher:
    """Calls `push` every few seconds in a thread of its own, until `stop`.

    A store that does not answer, or refuses, is asked again the next time: the work goes on here meanwhile. What ends
    the run (its lock was taken over) is raised by `check`.
    """

    def __init__(self, push: Callable[[], None]) -> None:
        self._push = push
        self._done = threading.Event()
        self._fatal: RushesError | None = None
        self._thread = threading.Thread(target=self._run, name="rushes-push", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._done.wait(push_seconds()):
            try:
                self._push()
            except (RemoteError, OSError):
                continue
            except RushesError as error:
                self._fatal = error
                return

    def check(self) -> None:
        """Raise what the thread could not go on from."""
        if self._fatal is not None:
            raise self._fatal

    def stop(self) -> None:
        self._done.set()
        self._thread.join()


@contextmanager
def mirrored_folder(target: Path | str) -> Iterator[Path]:
    """The folder to write in: the target itself, or for an address one here that holds what is there.

    New and changed files are pushed every few seconds and when the block ends, well or not; names that begin with a dot
    are work under way and stay here.
    """
    if not is_remote(target):
        yield Path(target)
        return
    staging = Staging(run_address(str(target)))
    unpushed = True
    try:
        _fill(staging)
        pusher = Pusher(partial(_push, staging))
        try:
            yield staging.folder
        finally:
            pusher.stop()
            with suppress(RushesError, OSError):  # told below, unless there is a worse reason for leaving
                _push(staging)
                unpushed = False
        pusher.check()
        _push(staging)
    finally:
        staging.close(keep=unpushed)


@contextmanager
def pulled_folder(place: Path | str) -> Iterator[Path]:
    """A folder to read: the one here, or a copy of what lies at an address, which goes away afterwards."""
    if not is_remote(place):
        yield Path(place)
        return
    url = run_address(str(place))
    with tempfile.TemporaryDirectory(prefix="rushes-") as made:
        folder = Path(made) / safe_name(url)
        get_files([(joined(url, name), folder / name) for name in listed(url) if not _is_hidden(name)])
        with errors_about(folder, url):
            yield folder


def _fill(staging: Staging) -> None:
    """Bring what is there into the folder here; with nothing there, nothing is here."""
    names = [name for name in listed(staging.url) if not _is_hidden(name)]
    if not names:
        staging.wipe()
    staging.fetch(names)


def _push(staging: Staging) -> None:
    staging.renew()
    every = sorted(path for path in staging.folder.rglob("*") if path.is_file())
    files = [path for path in every if not _is_hidden(path.relative_to(staging.folder).as_posix())]
    for rank in (0, 1, 2):
        staging.push(path for path in files if _LAST.get(path.name, 0) == rank)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))
