"""The folder here through which something is written to a store, and the lock that keeps a second writer out.

The folder is below `RUSHES_STAGING`, or `staging` in the cache, and belongs to one address. Two writers on one machine
are told apart by a file lock. Two machines by an object, `.rushes-lock`, that is created only where there is none, and
written again as a sign of life with every push; one without a sign of life for `DEAD_AFTER_S` is taken over, and one
whose process on this machine is gone at once. Ages are told by the two machines' clocks.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from rushes.core.errors import RunError, RushesError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.files import exclusive_lock, file_stamp
from rushes.core.machine.provenance import bytes_digest
from rushes.storage.remote.address import joined, safe_name
from rushes.storage.remote.errors import RemoteError, Unreachable, Vanished
from rushes.storage.remote.store import get_bytes, get_files, put_bytes, put_files, remove

LOCK = ".rushes-lock"
DEAD_AFTER_S = 120.0


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
        self._beside = self._home / ".beside"
        self._token = secrets.token_hex(8)
        busy = RunError(f"{url}: another rushes on this machine is writing it; wait for it")
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
                f"{self.url}: another rushes is writing it; wait for it, or choose another -o "
                f"(should it be dead, its lock {address} ends {DEAD_AFTER_S:.0f} s after its last sign of life)"
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
            raise RunError(f"{self.url}: another rushes took this run over; nothing more is written to it")
        put_bytes(self._sign(), address)

    def _sign(self) -> bytes:
        facts = {"token": self._token, "machine": _machine(), "pid": os.getpid(), "at": time.time()}
        return json.dumps(facts, sort_keys=True).encode()

    def beside(self, name: str) -> Path:
        """An empty folder next to the folder."""
        self._beside = self._home / f".{name}"
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
            for folder in (self._beside, *([] if keep else [self.folder])):
                shutil.rmtree(folder, ignore_errors=True)
            if not keep:
                shutil.rmtree(self._home, ignore_errors=True)
            self._guard.close()


def _read(address: str) -> dict[str, object] | None:
    try:
        found = json.loads(get_bytes(address))
    except Vanished:
        return None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


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
