"""Confidence and entropy from the token log-probabilities of a chat completion.

confidence_score
    Formula     exp(mean over the answer's tokens of ln p(token)): the geometric mean of the tokens' probabilities
    Unit        ratio, 0 to 1
output_entropy
    Formula     mean over the tokens of −Σ p ln p, over the alternatives the endpoint gives and what is left of 1 as one
                more: a lower bound on the entropy of the whole vocabulary
    Unit        nats
Both
    Inputs      `choices[0].logprobs.content` of the reply, as OpenAI-compatible endpoints give it
    Edge cases  no log-probabilities, or one that is no number: None; tokens without alternatives: no entropy
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

TOP = 5
"""Alternatives asked for per token."""


def logprob_numbers(reply: Mapping[str, object]) -> dict[str, float] | None:
    """`confidence_score`, `mean_logprob`, `token_count` and, where there are alternatives, `output_entropy`.

    >>> token = {"logprob": math.log(0.5), "top_logprobs": [{"logprob": math.log(0.5)}, {"logprob": math.log(0.25)}]}
    >>> numbers = logprob_numbers({"choices": [{"logprobs": {"content": [token, token]}}]})
    >>> round(numbers["confidence_score"], 6), round(numbers["output_entropy"], 6), numbers["token_count"]
    (0.5, 1.039721, 2.0)
    """
    try:
        tokens = reply["choices"][0]["logprobs"]["content"]  # type: ignore[index]
        chosen = [_logprob(token) for token in tokens]
    except (LookupError, TypeError, ValueError):
        return None
    if not chosen:
        return None
    mean = math.fsum(chosen) / len(chosen)
    numbers = {"confidence_score": math.exp(mean), "mean_logprob": mean, "token_count": float(len(chosen))}
    try:
        entropies = [_entropy([_logprob(other) for other in token["top_logprobs"]]) for token in tokens]
    except (LookupError, TypeError, ValueError):
        return numbers
    return numbers | {"output_entropy": math.fsum(entropies) / len(entropies)}


def _logprob(token: Mapping[str, object]) -> float:
    value = token["logprob"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e6 <= value <= 1e-6:
        raise ValueError("a log-probability is a number up to 0")
    return min(float(value), 0.0)


def _entropy(logprobs: Sequence[float]) -> float:
    if not logprobs:
        raise ValueError("no alternatives")
    rest = 1.0 - math.fsum(math.exp(value) for value in logprobs)
    left = -rest * math.log(rest) if rest > 1e-12 else 0.0
    return max(0.0, math.fsum(-math.exp(value) * value for value in logprobs) + left)
