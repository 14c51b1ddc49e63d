"""`rushes study backup`, `restore` and `audit`: what an operator needs to sleep at night."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rushes.cli.study.study import DEFAULT_DB, Db, MediaFolder, Name, app, open_studies
from rushes.core.table import TEXT
from rushes.present.terminal.console import one_line_errors, print_json, print_words, say
from rushes.present.terminal.options import Json


def _media(db: str, media: Path | None) -> Path:
    return media or (Path("studies.media") if "://" in db else Path(db).with_suffix(".media"))


@app.command("backup")
@one_line_errors
def backup(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="A new folder for the backup.")],
    db: Db = DEFAULT_DB,
    media: MediaFolder = None,
    as_json: Json = False,
) -> None:
    """Back up all studies with their clips, while the server runs. The backup is checked before this command ends.

    The folder can be served as it is: rushes serve --db FOLDER/studies.db. Exit code 1 if a clip is missing.

    Example: rushes study backup -o backups/monday --db studies.db
    """
    from rushes.study.database.backup import back_up

    made = back_up(db, out, media=_media(db, media))
    if as_json:
        print_json(asdict(made) | {"folder": str(made.folder)})
    else:
        print(f"{out}: {made.text}")
    if made.missing:
        raise typer.Exit(1)


@app.command("restore")
@one_line_errors
def restore(
    folder: Annotated[Path, typer.Argument(metavar="BACKUP", help="A folder of rushes study backup.")],
    db: Annotated[str, typer.Option(help="Where to: a new SQLite file, or an empty PostgreSQL database.")],
    media: MediaFolder = None,
    as_json: Json = False,
) -> None:
    """Restore a backup for a server to use. Nothing is overwritten, and every row is counted afterwards.

    Example: rushes study restore backups/monday --db /srv/rushes/studies.db
    """
    from rushes.study.database.backup import restore as put_back

    made = put_back(folder, db, media=_media(db, media))
    if as_json:
        print_json(asdict(made) | {"folder": str(made.folder)})
    else:
        print(f"Restored: {made.text}")
        say(f"Next: rushes serve --db {db if '://' not in db else 'postgresql://…'}")


@app.command("audit")
@one_line_errors
def audit(
    study: Name,
    last: Annotated[int, typer.Option(min=1, help="How many lines, the newest first.")] = 50,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Who did what to a study, and when: the log that nobody can change.

    Example: rushes study audit takes --last 20
    """
    from rushes.study.as_data import log_data

    with open_studies(db) as service:
        lines = service.audit(study, limit=last)
    if as_json:
        print_json([asdict(line) for line in lines])
        return
    rows = [(one["at"], one["actor"], one["action"], one["detail"]) for one in map(log_data, lines)]
    print_words(f"Log of {study}", (*TEXT("time (UTC)", "by", "what"), "details"), rows)
