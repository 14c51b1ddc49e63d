"""`rushes study account`: who may sign in to the owner's pages, and as what."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.preference.command import DEFAULT_DB, Db, Json, app, open_studies
from rushes.terminal.console import one_line_errors, print_json, print_table

PASSWORD_VARIABLE = "RUSHES_ACCOUNT_PASSWORD"  # a variable's name  # nosec B105

accounts_app = typer.Typer(
    name="account", help="Administrators: list, add, set a password, close.", no_args_is_help=True
)
app.add_typer(accounts_app)

Account = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]


@accounts_app.command("list")
@one_line_errors
def accounts(db: Db = DEFAULT_DB, as_json: Json = False) -> None:
    """The accounts that can sign in, with their roles.

    Example: rushes study account list
    """
    with open_studies(db) as service:
        found = service.admins()
    if as_json:
        print_json([{"name": one.name, "role": one.role} for one in found])
    else:
        print_table("Accounts", ("account", "role"), [(one.name, one.role) for one in found])


@accounts_app.command("add")
@one_line_errors
def add(
    name: Account,
    role: Annotated[str, typer.Option(help="owner, adjudicator (decides blind) or viewer (only looks).")],
    db: Db = DEFAULT_DB,
) -> None:
    """A new account. Its password is asked for, or taken from RUSHES_ACCOUNT_PASSWORD.

    Example: rushes study account add maria --role adjudicator
    """
    with open_studies(db) as service:
        service.add_admin(name, role=role, password=_password())
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
def close(name: Account, db: Db = DEFAULT_DB) -> None:
    """End an account. What it did stays in the log; the last owner cannot be closed.

    Example: rushes study account close maria
    """
    with open_studies(db) as service:
        service.close_admin(name)
    print(f"{name} can no longer sign in.")


def _password() -> str:
    import os

    given = os.environ.get(PASSWORD_VARIABLE, "")
    return given or str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
