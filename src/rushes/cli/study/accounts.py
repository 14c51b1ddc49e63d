"""`rushes study account` and `rushes study token`: who may sign in and do what, and what programs may ask."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.cli.study.study import DEFAULT_DB, Db, app, open_studies
from rushes.present.terminal.console import one_line_errors, print_json, print_words, say
from rushes.present.terminal.options import Json

if TYPE_CHECKING:
    from rushes.study.owner.api_tokens import ApiToken

PASSWORD_VARIABLE = "RUSHES_ACCOUNT_PASSWORD"  # a variable's name  # nosec B105

accounts_app = typer.Typer(
    name="account",
    help="Administrators: list, add, set a password, give a role in a study, close.",
    no_args_is_help=True,
)
app.add_typer(accounts_app)

Account = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]


@accounts_app.command("list")
@one_line_errors
def accounts(db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """The accounts that can sign in, with their roles, everywhere and in single studies.

    Example: rushes study account list
    """
    with open_studies(db) as service:
        found = [(one, service.roles_of(one.name)) for one in service.admins()]
    if as_json:
        print_json([{"name": one.name, "role": one.role, "studies": studies} for one, studies in found])
        return
    rows = [
        (one.name, one.role, ", ".join(f"{study} {role}" for study, role in studies.items())) for one, studies in found
    ]
    print_words("Accounts", ("account", "role", "in studies"), rows)


@accounts_app.command("add")
@one_line_errors
def add(
    name: Account,
    role: Annotated[
        str,
        typer.Option(help="owner, adjudicator (decides blind), viewer (only looks) or member (what studies give it)."),
    ],
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Signed in by the proxy alone: rushes serve --sso-header.")
    ] = False,
    db: Db = DEFAULT_DB,
) -> None:
    """A new account. Its password is asked for, or taken from RUSHES_ACCOUNT_PASSWORD.

    Example: rushes study account add maria --role adjudicator
    """
    with open_studies(db, fresh=True) as service:
        service.add_admin(name, role=role, password=None if no_password else _password())
    print(f"{name} can sign in now, as {role}.")


@accounts_app.command("password")
@one_line_errors
def password(name: Account, db: Db = DEFAULT_DB) -> None:
    """Set an account's password without the old one; its sessions end. For whoever runs the server.

    Example: rushes study account password admin
    """
    with open_studies(db) as service:
        service.reset_admin_password(name, _password())
    print(f"{name} has a new password; sessions with the old one have ended.")


@accounts_app.command("close")
@one_line_errors
def close_account(name: Account, db: Db = DEFAULT_DB) -> None:
    """End an account. What it did stays in the log; the last owner cannot be closed.

    Example: rushes study account close maria
    """
    with open_studies(db) as service:
        service.close_admin(name)
    print(f"{name} can no longer sign in.")


@accounts_app.command("role")
@one_line_errors
def set_role(
    name: Account,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="owner, adjudicator, viewer, or none to take it away.")],
    study: Annotated[str, typer.Option(help="The study's name.")],
    db: Db = DEFAULT_DB,
) -> None:
    """Give an account a role in one study. Elsewhere it keeps the role that it has.

    Example: rushes study account role maria adjudicator --study takes
    """
    with open_studies(db) as service:
        service.set_study_role(study, name, role)
    print(f"{name} has no role of its own in {study} now." if role == "none" else f"{name} is {role} in {study} now.")


def _password() -> str:
    import os

    given = os.environ.get(PASSWORD_VARIABLE, "")
    return given or str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


tokens_app = typer.Typer(name="token", help="Tokens for programs: make, list, revoke.", no_args_is_help=True)
app.add_typer(tokens_app)

Token = Annotated[str, typer.Argument(metavar="NAME", help="The token's name, for the list and the log.")]


@tokens_app.command("make")
@one_line_errors
def make(
    name: Token,
    scope: Annotated[list[str], typer.Option(help="read, import or export; may be given several times.")],
    study: Annotated[str, typer.Option(help="For this study alone.")] = "",
    days: Annotated[int | None, typer.Option(help="Good for so many days; by default until it is revoked.")] = None,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """A token with which a program asks the server. It is printed once; only its hash is stored.

    A program sends it as a header: Authorization: Bearer TOKEN.

    Example: rushes study token make nightly --scope read --scope export --study takes --days 90
    """
    with open_studies(db) as service:
        secret = service.make_token(name, scope, study=study, days=days)
    if as_json:
        print_json({"name": name, "token": secret})
    else:
        say("Keep this token: it is not shown again.")
        print(secret)


@tokens_app.command("list")
@one_line_errors
def tokens(db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """The tokens there are and were: what they are for, who made them, until when.

    Example: rushes study token list
    """
    with open_studies(db) as service:
        found = service.tokens()
    if as_json:
        print_json([asdict(one) for one in found])
        return
    rows = [(one.name, ", ".join(one.scopes), one.study or "all", one.made_by, _until(one)) for one in found]
    print_words("Tokens", ("token", "for", "study", "made by", "until"), rows)


@tokens_app.command("revoke")
@one_line_errors
def revoke(name: Token, db: Db = DEFAULT_DB) -> None:
    """End a token at once.

    Example: rushes study token revoke nightly
    """
    with open_studies(db) as service:
        service.revoke_token(name)
    print(f"{name} is revoked.")


def _until(token: ApiToken) -> str:
    from datetime import UTC, datetime

    if token.revoked_ms is not None:
        return "revoked"
    if token.expires_ms is None:
        return "no end"
    return datetime.fromtimestamp(token.expires_ms / 1000, UTC).strftime("%Y-%m-%d")
