"""A vision model behind an OpenAI-compatible endpoint as judge: sampled frames and a question in, an answer out."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from rushes.core.errors import InputError, MediaError
from rushes.core.judge import Judge, JudgeOptions, Verdict
from rushes.core.words.options import option
from rushes.instruments.robustness.sweep.judges import USUAL_TIMEOUT, parsed_verdict
from rushes.instruments.robustness.sweep.logprobs import TOP, logprob_numbers
from rushes.vision.judges.chat import check_address, image_part, without_fence
from rushes.vision.judges.pictures import LONGEST_SIDE, sampled_jpegs
from rushes.vision.judges.transport import Attempts, EndpointError

_FORM = (
    'Answer with one JSON object and nothing else: {"output": "<your answer, a few words>", '
    '"justification": "<why, one or two sentences>"}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointJudge(Judge):
    """Asks a model a question about frames of the clip, through `POST {base_url}/chat/completions`."""

    keeps_time: ClassVar[bool] = True
    model: str
    base_url: str
    question: str
    frames: int = 4
    timeout: float = USUAL_TIMEOUT
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable with the key; sent only where it is set, written nowhere."""
    attempts: int = 3
    """How often to ask where the endpoint is busy, late or breaks off. Not part of who judges: it moves no answer."""
    pause_s: float = 2.0
    """Wait before a second attempt; doubled each time."""
    logprobs: bool = False
    """Ask for the tokens' log-probabilities, and take confidence and entropy from them."""

    @classmethod
    def from_options(cls, argument: str, options: JudgeOptions) -> EndpointJudge:
        """`openai:MODEL`."""
        same = ("base_url", "question", "frames", "api_key_env", "attempts", "logprobs")
        given = {name: getattr(options, name) for name in same}
        return cls(model=argument, timeout=options.timeout or USUAL_TIMEOUT, **given)

    def check(self) -> None:
        """Refuse, before the first run, an address that cannot be asked."""
        check_address(self.base_url, "--base-url")
        if not self.model or not self.question.strip():
            raise InputError(f"a model judge needs {option('--judge openai:MODEL')} and {option('--question TEXT')}")
        if self.attempts < 1:
            raise InputError(f"a model judge needs at least one attempt; got {self.attempts}")
        if self.frames < 1:
            raise InputError(f"a model judge needs at least one frame; got {self.frames}")

    def describe(self) -> dict[str, object]:
        return {
            "kind": "openai",
            "model": self.model,
            "base_url": self.base_url,
            "question": self.question,
            "frames": self.frames,
            "longest_side": LONGEST_SIDE,
            "temperature": 0,
            **({"numbers": f"logprobs-top{TOP}"} if self.logprobs else {}),
        }

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        try:
            pictures = sampled_jpegs(clip, self.frames)
        except MediaError as error:
            return Verdict.failure(f"the perturbed clip cannot be read: {str(error).replace(str(clip), clip.name)}")
        body = json.dumps(self._request(pictures, seed)).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := os.environ.get(self.api_key_env):
            headers["Authorization"] = f"Bearer {key}"
        asking = Attempts(most=self.attempts, pause_s=self.pause_s, timeout=self.timeout)
        try:
            reply = asking.ask(f"{self.base_url.rstrip('/')}/chat/completions", body, headers)
        except EndpointError as error:
            return Verdict.failure(error.reason)
        return _verdict(reply, logprobs=self.logprobs)

    def cannot_see(self, axis: str, *, sound: bool) -> str:
        return "the model sees frames and hears nothing" if sound else ""

    def _request(self, pictures: Sequence[bytes], seed: int) -> dict[str, object]:
        images = [image_part(jpeg) for jpeg in pictures]
        text = {"type": "text", "text": f"{self.question.strip()}\n\n{_FORM}"}
        messages = [{"role": "user", "content": [text, *images]}]
        asked = {"logprobs": True, "top_logprobs": TOP} if self.logprobs else {}
        return {"model": self.model, "temperature": 0, "seed": seed, "messages": messages, **asked}


def _verdict(reply: bytes, *, logprobs: bool) -> Verdict:
    """The verdict in a chat completion; a model that does not keep to the form gives its first line as answer.

    With `logprobs`, confidence and entropy are those of its tokens, and none that it states itself.
    """
    try:
        data = json.loads(reply.decode("utf-8"))
        text = data["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return Verdict.failure("the endpoint's reply is not a chat completion")
    if not isinstance(text, str) or not text.strip():
        return Verdict.failure("the model gave an empty answer")
    verdict = parsed_verdict(without_fence(text))
    if verdict.failed:
        first, _, rest = text.strip().partition("\n")
        verdict = Verdict(output=first.strip(), justification=rest.strip())
    if not logprobs:
        return verdict
    numbers = logprob_numbers(data)
    remarks = () if numbers else ("the endpoint gave no log-probabilities",)
    return replace(verdict, numbers=numbers or {}, remarks=remarks)
