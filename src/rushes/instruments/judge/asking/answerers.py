"""Who answers: an endpoint, a program, a Python function, or a file of recorded answers.

An answerer is given texts and frames and returns the judge's text. What that text means is read elsewhere, so every
kind of judge is held to the same form. It may be called from several threads at once.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

from rushes.core.errors import InputError
from rushes.core.machine.provenance import file_digest
from rushes.core.registry import Registry
from rushes.core.words.options import option
from rushes.instruments.judge.asking.answer_log import read_answers
from rushes.instruments.judge.asking.frames import FrameStore
from rushes.instruments.judge.asking.requests import Ask, Method, Part, Reply
from rushes.vision.judges.chat import check_address, is_loopback, read_completion
from rushes.vision.judges.program import command_words, run_program, script_digests
from rushes.vision.judges.transport import Attempts, EndpointError

KEYS = ("RUSHES_JUDGE_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the endpoint's key; the first that is set is sent, and written nowhere."""
_LONGEST_ANSWER = 20_000
"""Letters of an answer that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How patient to be. None of it moves an answer."""

    timeout: float = 120.0
    attempts: int = 5
    pause_s: float = 2.0


class Answerer(Protocol):
    """A judge. Other packages add kinds by an entry point of the group `rushes.answerers`, a class like these."""

    @property
    def destination(self) -> str:
        """The host that frames are sent to; "" where they stay on this machine."""

    @property
    def looks(self) -> bool:
        """Whether it is given frames; recorded answers need none."""

    @classmethod
    def from_argument(cls, argument: str, limits: Limits) -> Answerer: ...

    def describe(self) -> dict[str, object]:
        """Plain data that says who judges, without secrets; another judge is another number."""

    def answer(self, ask: Ask, digest: str, method: Method, frames: FrameStore) -> Reply:
        """The judge's text, or why there is none."""


ANSWERERS: Registry[type[Answerer]] = Registry(
    "judge",
    group="rushes.answerers",
    built_in={
        name: f"rushes.instruments.judge.asking.answerers:{name.capitalize()}Answerer"
        for name in ("openai", "command", "python", "replay")
    },
)


def named_answerer(judge: str | Callable[..., Any] | Answerer, limits: Limits) -> Answerer:
    """The judge that `KIND:ARGUMENT` names, or a Python function as it is; `InputError` for one that cannot work."""
    if isinstance(judge, str):
        kind, sign, argument = judge.partition(":")
        if not sign or not argument.strip():
            raise InputError(
                f"{option('--judge')} is openai:URL#MODEL, command:CMD, python:MODULE:FUNCTION or replay:FILE; got "
                f"{judge!r}"
            )
        return ANSWERERS[kind].from_argument(argument, limits)
    if not callable(judge):
        return judge
    return PythonAnswerer(name=_called(judge), function=judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenaiAnswerer:
    """A vision model behind an OpenAI-compatible endpoint: `POST URL/chat/completions`."""

    model: str
    base_url: str
    limits: Limits = Limits()
    looks: ClassVar[bool] = True

    @classmethod
    def from_argument(cls, argument: str, limits: Limits) -> OpenaiAnswerer:
        """`URL#MODEL`."""
        url, _, model = argument.partition("#")
        check_address(url, f"{option('--judge')} openai:URL#MODEL")
        if not model.strip():
            raise InputError(f"{option('--judge')} openai:URL#MODEL names the model after #; got {argument!r}")
        return cls(model=model.strip(), base_url=url.rstrip("/"), limits=limits)

    @property
    def destination(self) -> str:
        return "" if is_loopback(self.base_url) else urlsplit(self.base_url).netloc

    def describe(self) -> dict[str, object]:
        return {"kind": "openai", "model": self.model}

    def answer(self, ask: Ask, digest: str, method: Method, frames: FrameStore) -> Reply:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := next((os.environ[name] for name in KEYS if os.environ.get(name)), ""):
            headers["Authorization"] = f"Bearer {key}"
        asking = Attempts(most=self.limits.attempts, pause_s=self.limits.pause_s, timeout=self.limits.timeout)
        try:
            body = self._body(ask, method, frames)
            found = read_completion(asking.ask(f"{self.base_url}/chat/completions", body, headers))
        except EndpointError as error:
            return Reply(failed=error.reason)
        if found is None:
            return Reply(failed="the endpoint's reply is not a chat completion")
        return Reply(
            text=found.text[:_LONGEST_ANSWER],
            model=found.model,
            fingerprint=found.fingerprint,
            refusal=found.refusal,
            tokens_in=found.tokens_in,
            tokens_out=found.tokens_out,
        )

    def _body(self, ask: Ask, method: Method, frames: FrameStore) -> bytes:
        """The request in JSON. Frames are in it as they were encoded, once for all requests about the clip."""
        content = b",".join(
            json.dumps({"type": "text", "text": part}).encode() if isinstance(part, str) else frames.parts(part)
            for part in ask.parts
        )
        head = {"model": self.model, "temperature": method.temperature, "seed": ask.repeat}
        system = json.dumps({"role": "system", "content": method.system}).encode()
        start = json.dumps(head).encode()[:-1]
        return start + b', "messages": [' + system + b', {"role": "user", "content": [' + content + b"]}]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAnswerer:
    """Any program: it gets the path of a JSON file with the request, and prints the judge's answer."""

    command: str
    limits: Limits = Limits()
    destination: ClassVar[str] = ""
    looks: ClassVar[bool] = True

    @classmethod
    def from_argument(cls, argument: str, limits: Limits) -> CommandAnswerer:
        """`CMD {request}`."""
        words = command_words(argument)
        if not any("{request}" in word for word in words):
            raise InputError(f"the command needs {{request}} where the request's file goes; got {argument!r}")
        if shutil.which(words[0]) is None:
            raise InputError(f"{words[0]}: no such program; check the command")
        return cls(command=argument, limits=limits)

    def describe(self) -> dict[str, object]:
        files = script_digests(command_words(self.command))
        return {"kind": "command", "model": self.command, **({"files": files} if files else {})}

    def answer(self, ask: Ask, digest: str, method: Method, frames: FrameStore) -> Reply:
        with TemporaryDirectory(prefix="rushes-judge-") as folder:
            home = Path(folder)
            request = plain_request(ask, method, lambda part: _files(home, frames.jpegs(part)))
            file = home / "request.json"
            file.write_text(json.dumps(request, ensure_ascii=False), encoding="utf-8")
            words = [word.replace("{request}", str(file)) for word in command_words(self.command)]
            ended = run_program(words, timeout=self.limits.timeout)
        if ended.problem or ended.code:
            errors = ended.err.decode("utf-8", "replace").strip().splitlines()
            return Reply(failed=ended.problem or f"exit code {ended.code}{f': {errors[-1][:200]}' if errors else ''}")
        return Reply(text=ended.out.decode("utf-8", "replace").strip()[:_LONGEST_ANSWER])


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonAnswerer:
    """A Python function: it is given the request as a dictionary and returns the answer, as text or as a dictionary."""

    name: str
    function: Callable[..., Any] = field(compare=False)
    destination: ClassVar[str] = ""
    looks: ClassVar[bool] = True

    @classmethod
    def from_argument(cls, argument: str, limits: Limits) -> PythonAnswerer:
        """`MODULE:FUNCTION`; the module may lie in the working directory."""
        module, _, name = argument.partition(":")
        sys.path.insert(0, os.getcwd())
        try:
            function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"{option('--judge')} python:{argument}: cannot be loaded ({error})") from None
        finally:
            sys.path.remove(os.getcwd())
        if not callable(function):
            raise InputError(
                f"{option('--judge')} python:{argument}: expected a function; got {type(function).__name__}"
            )
        return cls(name=argument, function=function)

    def describe(self) -> dict[str, object]:
        try:
            source = inspect.getsourcefile(inspect.unwrap(self.function))
        except TypeError:
            source = None
        files = {Path(source).name: file_digest(source)} if source and Path(source).is_file() else {}
        return {"kind": "python", "model": self.name, **({"files": files} if files else {})}

    def answer(self, ask: Ask, digest: str, method: Method, frames: FrameStore) -> Reply:
        request = plain_request(ask, method, frames.jpegs)
        try:
            found = self.function(request)
        except Exception as error:  # the user's own function: whatever it raises is its failure to answer
            return Reply(failed=f"{type(error).__name__}: {error}"[:300])
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=str)
        return Reply(text=text[:_LONGEST_ANSWER])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayAnswerer:
    """Recorded answers: the same numbers without a judge, on any machine, in CI."""

    path: str
    judge: Mapping[str, object]
    replies: Mapping[str, Reply]
    destination: ClassVar[str] = ""
    looks: ClassVar[bool] = False

    @classmethod
    def from_argument(cls, argument: str, limits: Limits) -> ReplayAnswerer:
        """`FILE`."""
        judge, replies, _ = read_answers(Path(argument))
        if not judge:
            raise InputError(f"{argument}: expected answers that rushes judge recorded; it is empty")
        return cls(path=argument, judge=judge, replies=replies)

    def describe(self) -> dict[str, object]:
        return dict(self.judge)

    def answer(self, ask: Ask, digest: str, method: Method, frames: FrameStore) -> Reply:
        if digest not in self.replies:
            raise InputError(
                f"{self.path}: no recorded answer to {' '.join(ask.key)}; clips, prompts or settings differ "
                "from those of the recording"
            )
        return self.replies[digest]


def plain_request(ask: Ask, method: Method, frames: Callable[[Any], object]) -> dict[str, object]:
    """A request for a program or a function: texts and clips in order, with the frames of each."""

    def plain(part: Part) -> dict[str, object]:
        return {"text": part} if isinstance(part, str) else {"clip": part.path, "frames": frames(part)}

    parts = [plain(part) for part in ask.parts]
    return {"system": method.system, "parts": parts, "temperature": method.temperature, "seed": ask.repeat}


def _files(folder: Path, jpegs: list[bytes]) -> list[str]:
    number = len(list(folder.iterdir()))
    files = [folder / f"{number:02d}-{place:02d}.jpg" for place in range(len(jpegs))]
    for file, data in zip(files, jpegs, strict=True):
        file.write_bytes(data)
    return [str(file) for file in files]


def _called(function: Callable[..., Any]) -> str:
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", type(function).__name__)
    return f"{module}:{name}" if module else str(name)
