"""`rushes.judge`: what `rushes judge` does, in Python: clips, systems, or a suite's folder with its own prompts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from rushes.core.prompts import Prompt
from rushes.instruments.judge.evaluate import Judged, judge_clips
from rushes.suite.folder import is_suite_folder, read_suite_folder

P = ParamSpec("P")


def _of_suites(ask: Callable[P, Judged]) -> Callable[P, Judged]:
    @wraps(ask)
    def judge(*arguments: P.args, **options: P.kwargs) -> Judged:
        clips: Any = options.pop("clips") if "clips" in options else arguments[0]
        systems, declared = systems_of(clips)
        if declared is not None and options.get("prompts") is None:
            options["prompts"] = declared
        asked: Any = ask
        done: Judged = asked(systems or clips, *arguments[1:], **options)
        return done

    return judge


def systems_of(clips: object) -> tuple[dict[str, str], tuple[Prompt, ...] | None]:
    """The systems and prompts of a suite's folder; nothing of anything else."""
    one = clips[0] if isinstance(clips, (list, tuple)) and len(clips) == 1 else clips
    if not isinstance(one, (str, Path)) or not is_suite_folder(one):
        return {}, None
    suite = read_suite_folder(one).suite
    found = {system.name: system.clips for system in suite.systems if system.clips and not system.is_reference}
    return found, suite.prompts or None


judge = _of_suites(judge_clips)
