"""Where the workers of a pool come from: a template that forks them, or one fresh interpreter each.

A pool of several workers has a template; a pool of one has it only where the command stands by with one, since a start
of its own costs the same. What the workers do is the same either way, and so is whose fault a death is.
"""

from __future__ import annotations

from collections.abc import Mapping

from rushes.core.errors import RunError
from rushes.workers import template as templates
from rushes.workers.template import Template, TemplateGone
from rushes.workers.worker import WorkerProcess

STARTS = 3
"""Workers, or templates, that may die in a row before any begins a task."""


def cannot_start(reason: str) -> RunError:
    """No worker begins a task, and no task is at fault."""
    return RunError(f"worker processes end before they begin a task ({reason}); see `rushes doctor`")


class Source:
    """Makes workers for one function, "module:name", in a folder and environment (None: those of this process)."""

    def __init__(
        self,
        work: str,
        *,
        several: bool,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._work, self._folder = work, folder
        self._environment = environment
        self._may_stand_by = folder is None and environment is None
        self._forks = templates.can_fork() and (several or (self._may_stand_by and templates.is_standing_by()))
        self._template: Template | None = None
        self._loading = self._killed = False

    def worker(self) -> WorkerProcess:
        """A new worker; `RunError` where none can be had, `TemplateGone` once the source was killed."""
        for _ in range(STARTS):
            if not self._forks or not self._ready():
                return WorkerProcess(self._work, folder=self._folder, environment=self._environment)
            try:
                return WorkerProcess(self._work, template=self._template)
            except TemplateGone:  # it was killed, and with it its workers: another takes its place
                self.close()
                if self._killed:
                    raise
        raise cannot_start("their parent process was killed")

    def kill(self) -> None:
        """Make no more workers, from any thread; a template that is still importing ends at once."""
        self._killed = True
        if self._loading and self._template is not None:
            self._template.kill()

    def close(self) -> None:
        """Let go of the template."""
        if self._template is not None:
            self._template.close()
            self._template = None

    def _ready(self) -> bool:
        """Whether a template is there that has imported the work; from now on none where forking it is not safe."""
        reason = ""
        for _ in range(STARTS if self._template is None else 0):
            try:
                self._forks = self._loaded()
            except TemplateGone as error:
                self.close()
                if self._killed:
                    raise
                reason = str(error)
            else:
                break
        else:
            if self._template is None:
                raise cannot_start(reason)
        if not self._forks:
            self.close()
        return self._forks

    def _loaded(self) -> bool:
        """Start a template and have it import the work; whether it has one thread."""
        stands_by = self._may_stand_by and templates.is_standing_by()
        self._template = templates.taken() if stands_by else templates.started(self._folder, self._environment)
        self._loading = True
        if self._killed:  # by another thread, which saw neither
            self._template.kill()
        try:
            return self._template.load(self._work) == 1
        finally:
            self._loading = False
