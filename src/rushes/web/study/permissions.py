"""Who may make which request: by the role of an account, in a study or everywhere, and by the scopes of a token."""

from __future__ import annotations

import re
from collections.abc import Sequence

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
ARTICLES = {"owner": "an owner", "adjudicator": "an adjudicator", "viewer": "a viewer", "member": "a member"}
NOT_IN_VIEW = "rushes view only looks at runs. To make and run studies: rushes serve --db studies.db --run RUN"
_OF_STUDIES = re.compile(r"/(studies|accounts?|tokens|setup|login|logout|rate|media|i|join|withdraw)([/.].*)?")
"""What `rushes view` has nothing to do with."""
_NOTES = re.compile(r"/runs/.+")
"""Where notes on a run's clips are sent, which are kept beside the run."""
_OWN = re.compile(r"/account(/password)?")
_FOR_OWNERS = re.compile(r"/(accounts|tokens).*|/studies/[^/]+/payments\.csv")
"""What only an owner may even look at: accounts, and who is paid what under which id."""
_FOR_ADJUDICATORS = re.compile(r"/studies/[^/]+/(disagreements|adjudication)(\.json)?")


def may(role: str, method: str, path: str) -> bool:
    """Whether a role may make this request. An adjudicator sees the disputed pairs, blind, and nothing that names
    systems; a viewer sees all but accounts and payments and changes nothing; both may change their own password. `view`
    is `rushes view`: runs, boards and comparisons, and notes on a run's clips, but nothing of a study.

    >>> may("viewer", "GET", "/studies/takes/results"), may("viewer", "POST", "/studies/takes/invite")
    (True, False)
    >>> may("viewer", "GET", "/studies/takes/running"), may("viewer", "GET", "/studies/takes/payments.csv")
    (True, False)
    >>> may("adjudicator", "POST", "/studies/takes/adjudication"), may("adjudicator", "GET", "/studies/takes/results")
    (True, False)
    >>> may("view", "POST", "/runs/demo/clip/triage"), may("view", "GET", "/studies/new"), may("view", "POST", "/setup")
    (True, False, False)
    """
    if role == "view":
        return not _OF_STUDIES.fullmatch(path) and (method in SAFE_METHODS or _NOTES.fullmatch(path) is not None)
    if role == "owner" or (_OWN.fullmatch(path) and role in ARTICLES):
        return True
    if role == "viewer":
        return method in SAFE_METHODS and not _FOR_OWNERS.fullmatch(path)
    return role == "adjudicator" and _FOR_ADJUDICATORS.fullmatch(path) is not None


_STUDY = re.compile(r"/studies/([^/]+?)(?:\.json)?(?:/.*)?")
_EXPORT = re.compile(r"/studies/[^/]+/export([/.].*)?")


def study_in(path: str) -> str:
    """The study that an address is about; "" for any other.

    >>> study_in("/studies/takes/raters"), study_in("/studies/takes.json"), study_in("/studies/new"), study_in("/")
    ('takes', 'takes', '', '')
    """
    found = _STUDY.fullmatch(path)
    return found[1] if found and found[1] != "new" else ""


def token_may(scopes: Sequence[str], study: str, method: str, path: str) -> bool:
    """Whether a program's token may make this request: read is what a viewer sees but for exports, export the files of
    votes, import a new study. A token for one study sees nothing of another.

    >>> token_may(["read"], "", "GET", "/studies/takes.json"), token_may(["read"], "", "GET", "/accounts")
    (True, False)
    >>> token_may(["read"], "", "GET", "/studies/takes/export/csv"), token_may(["export"], "", "GET", "/studies/a.json")
    (False, False)
    >>> token_may(["read"], "takes", "GET", "/studies/other.json"), token_may(["import"], "", "POST", "/studies/new")
    (False, True)
    """
    if study and study_in(path) != study:
        return False
    if path == "/studies/new":
        return "import" in scopes and method == "POST"
    if _OWN.fullmatch(path) or method not in SAFE_METHODS:
        return False
    return "export" in scopes if _EXPORT.fullmatch(path) else "read" in scopes and may("viewer", method, path)
