"""What views are registered with: the router of pages for administrators, a page with its JSON view, form and rater."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData

from rushes.study import RaterSession
from rushes.web.http.access import admin, posted, rater

Form = Annotated[FormData, Depends(posted)]
Rater = Annotated[RaterSession, Depends(rater)]
View = TypeVar("View", bound=Callable[..., Any])


def admin_router() -> APIRouter:
    """A router whose pages ask for a sign-in, and for a role that may see them."""
    return APIRouter(dependencies=[Depends(admin)])


def with_json_view(router: APIRouter, path: str) -> Callable[[View], View]:
    """Register a GET view at `path` and at `path.json`."""

    def register(view: View) -> View:
        # The JSON view first: "/studies/{study}" would take "takes.json" for a study's name.
        router.get(f"{path}.json", response_model=None, name=f"{view.__name__}_json")(view)
        router.get(path, response_model=None)(view)
        return view

    return register
