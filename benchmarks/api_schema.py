"""The app's OpenAPI description, made honest: forms and queries that views read by hand, and every answer they give.

FastAPI knows the routes, their path parameters and the one JSON body. It does not know what a view takes out of a form,
nor that most answers are pages. The tables here say so. The description is not served; the API's fuzzer reads it
(`benchmarks/fuzz_api.py`) and holds every answer against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from fastapi import FastAPI

from rushes.instruments.preference.votes import TIE_POLICIES
from rushes.study.exchange.formats import FORMATS
from rushes.study.owner.administrators import ROLES, STUDY_ROLES
from rushes.study.records import PROBLEMS

Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": "string", "maxLength": 300}
TEXTS: Schema = {"type": "array", "items": TEXT, "maxItems": 8}
WHOLE: Schema = {"anyOf": [{"type": "integer"}, TEXT]}
SHARE: Schema = {"anyOf": [{"type": "number"}, TEXT]}
RATING: Schema = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 5}, TEXT]}

ERROR: Schema = {
    "type": "object",
    "required": ["error", "code", "missing"],
    "properties": {"error": {"type": "string"}, "code": {"type": "string"}, "missing": {"type": "array"}},
}


def _one_of(*words: str) -> Schema:
    return {"anyOf": [{"enum": list(words)}, TEXT]}


_VOTE: dict[str, Schema] = {
    "assignment": TEXT,
    "key": TEXT,
    "winner": _one_of("A", "B", "Tie"),
    "primary_tag": TEXT,
    "secondary_tags": TEXTS,
    "ratings_a.prompt_adherence": RATING,
    "ratings_b.prompt_adherence": RATING,
    "note": TEXT,
    "training": _one_of("1"),
    "viewing": TEXT,
}
FORMS: Mapping[str, Mapping[str, Schema]] = {
    "/setup": {"key": TEXT, "password": TEXT, "again": TEXT},
    "/login": {"username": TEXT, "password": TEXT, "next": TEXT},
    "/account/password": {"current": TEXT, "password": TEXT, "again": TEXT},
    "/accounts/add": {"name": TEXT, "role": _one_of(*ROLES), "password": TEXT, "again": TEXT},
    "/accounts/{name}/password": {"password": TEXT, "again": TEXT},
    "/tokens/add": {"name": TEXT, "scopes": TEXTS, "study": TEXT, "days": WHOLE},
    "/rate/draft": _VOTE,
    "/rate/vote": _VOTE,
    "/rate/language": {"language": _one_of("en", "de"), "back": TEXT},
    "/rate/sound": {"heard": TEXT},
    "/rate/problem": {"assignment": TEXT, "kind": _one_of(*PROBLEMS), "text": TEXT},
    "/studies/new": {
        **dict.fromkeys(("name", "title", "only", "more_runs", "prompts_path", "table_path", "clips_path"), TEXT),
        **dict.fromkeys(("seed", "min_raters", "quota", "gold_every", "repeat_every", "max_gold_errors"), WHOLE),
        **dict.fromkeys(("max_side_bias", "min_repeat_agreement"), SHARE),
        **dict.fromkeys(("pairing", "on_erase", "pay"), TEXT),
        "runs": TEXTS,
        "table": {"type": "string", "format": "binary"},
    },
    "/join/{token}": {"participant": TEXT, "session": TEXT, "decline": _one_of("1")},
    "/studies/{study}/state": {"state": _one_of("open", "paused", "closed"), "why": TEXT},
    "/studies/{study}/roles": {"name": TEXT, "role": _one_of(*STUDY_ROLES, "none")},
    "/studies/{study}/link": {
        "platform": _one_of("prolific", "mturk", "other"),
        "quota": WHOLE,
        "ids": _one_of("hashed", "plain"),
        **dict.fromkeys(("completion_code", "screened_out_code", "full_code", "return_url"), TEXT),
    },
    "/runs/{name}/selection.{kind}": {"chosen": TEXT},
    "/studies/{study}/retire": {"sample": TEXT, "why": TEXT},
    "/studies/{study}/erase": {"rater": TEXT, "participant": TEXT, "sure": _one_of("yes")},
    "/studies/{study}/problems/{number}": {"note": TEXT},
    "/studies/{study}/invite": {"names": TEXT, "count": WHOLE},
    "/studies/{study}/raters/{rater}/restore": {"why": TEXT},
    "/studies/{study}/adjudication": {
        "sample": TEXT,
        "winner": _one_of("A", "B", "Tie"),
        "tags": TEXTS,
        "note": TEXT,
    },
}
"""What each view reads from its form. A form not named here takes any fields."""

_TABLE: dict[str, Schema] = {
    "badge": {"type": "array", "items": _one_of("pass", "flagged", "reject"), "maxItems": 4},
    "q": TEXT,
    "metric": TEXT,
    "min": SHARE,
    "max": SHARE,
    "sort": TEXT,
    "order": _one_of("desc"),
    "page": WHOLE,
    "view": _one_of("table"),
    "star": _one_of("1"),
    "tag": TEXTS,
    "col": TEXTS,
    "min.blur_score": SHARE,
    "max.blur_score": SHARE,
}
QUERIES: Mapping[str, Mapping[str, Schema]] = {
    "/runs/{name}": _TABLE,
    "/runs/{name}/take": _TABLE,
    "/runs/{name}/tiles": _TABLE,
    "/runs/{name}/selection.{kind}": {"only": TEXTS, **_TABLE},
    "/compare": {"a": TEXT, "b": TEXT, "run": TEXT, "only": TEXTS},
    "/studies/new": {"runs": TEXTS, "only": TEXTS, "matching": _one_of("1"), **_TABLE},
    "/studies/{study}/results": {"ties": _one_of(*TIE_POLICIES)},
}
"""What each view reads from its address beside what FastAPI knows; `.json` twins read the same."""

_CLIP_TYPES = ("video/mp4", "video/webm", "image/gif")


def description(app: FastAPI, *, known: Mapping[str, list[str]] | None = None) -> Schema:
    """The OpenAPI document of the app.

    `known`: values that exist on this server, by the name of the parameter or field ("study": ["bars"]), or "*" for
    every text; they are offered beside any other text, so that whoever makes up requests gets past the first check.
    """
    import copy
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # GET and HEAD of one view share its name
        document: Schema = copy.deepcopy(app.openapi())
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["operationId"] = f"{method} {path}"
            operation["parameters"] = _parameters(path, operation.get("parameters", []), known or {})
            if method == "post" and "requestBody" not in operation:
                operation["requestBody"] = _form(path, known or {})
            operation["responses"] = _responses(method, path)
    return document


def _parameters(path: str, given: list[Schema], known: Mapping[str, list[str]]) -> list[Schema]:
    read_by_hand = QUERIES.get(path.removesuffix(".json"), {})
    named = {one["name"] for one in given}
    more = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in read_by_hand.items()
        if name not in named
    ]
    return [one | {"schema": _offered(one["name"], one["schema"], known)} for one in [*given, *more]]


def _form(path: str, known: Mapping[str, list[str]]) -> Schema:
    fields = FORMS.get(path)
    schema: Schema = {"type": "object", "additionalProperties": fields is None and TEXT}
    if fields is not None:
        schema["properties"] = {name: _offered(name, kind, known) for name, kind in fields.items()}
    kinds = ["application/x-www-form-urlencoded"]
    if any(kind.get("format") == "binary" for kind in (fields or {}).values()):
        kinds = ["multipart/form-data"]
    return {"required": False, "content": {kind: {"schema": schema} for kind in kinds}}


def _offered(name: str, schema: Schema, known: Mapping[str, list[str]]) -> Schema:
    values = [{"enum": known[one]} for one in (name, "*") if known.get(one)]
    if not values or schema.get("type") == "integer" or schema.get("format") == "binary":
        return schema
    if schema.get("type") == "array":
        return schema | {"items": {"anyOf": [*values, schema["items"]]}}
    return {"anyOf": [*values, schema]}


def _responses(method: str, path: str) -> Schema:
    """Every status the route may answer with, and in which form."""
    twin = path.endswith(".json")
    page = {"text/html": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "object"}}}
    success: Schema = {"application/json": {"schema": {"type": "object"}}} if twin else page
    trouble: Schema = {"application/json": {"schema": ERROR}}
    trouble |= {} if twin else {"text/html": {"schema": {"type": "string"}}}
    answers: Schema = {}
    if path.startswith(("/media", "/takes", "/rate/source/")):
        success = {kind: {} for kind in _CLIP_TYPES}
        answers |= {"206": {"description": "part", "content": success}, "304": {"description": "unchanged"}}
        answers |= {status: _trouble(status, trouble) for status in ("404", "415", "416")}
    elif path.startswith("/studies/{study}/export/"):
        success = {form.media_type.partition(";")[0]: {} for _, form in FORMATS.items()}
    elif path.startswith("/thumbnails/"):
        success = {"image/jpeg": {}, "image/svg+xml": {}}
    elif path.endswith("/selection.{kind}"):
        success = {"text/plain": {}, "text/csv": {}}
    elif path.endswith(".csv"):
        success = {"text/csv": {}}
    elif path.endswith(".bin"):
        success = {"application/octet-stream": {}}
    elif path.endswith(".wav"):
        success = {"audio/wav": {}}
    elif path.endswith(".svg"):
        success = {"image/svg+xml": {}}
    elif path.endswith(".js"):
        success = {"text/javascript": {}}
    answers["200"] = {"description": "done", "content": success}
    statuses = {"400", "401", "404", "409", "422"} | ({"403", "410", "413", "429"} if method == "post" else set())
    statuses |= {"410"} if path.startswith(("/join/", "/withdraw/")) else set()
    answers |= {status: _trouble(status, trouble) for status in statuses}
    if not twin or path.startswith("/rate"):
        answers["303"] = {"description": "look there"}
    return dict(sorted(answers.items()))


def _trouble(status: str, content: Schema) -> Schema:
    return {"description": f"not taken ({status})", "content": content}
