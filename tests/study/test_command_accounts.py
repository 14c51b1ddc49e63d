"""`rushes study account`: administrators from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.study.accounts import PASSWORD_VARIABLE, app
from rushes.study import NotAllowed
from rushes.study.service import open_service


def test_accounts_are_added_listed_reset_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = str(tmp_path / "studies.db")

    def run(*words: str, password: str = "a long password") -> tuple[int, str]:
        monkeypatch.setenv(PASSWORD_VARIABLE, password)
        done = CliRunner().invoke(app, ["account", *words, "--db", db])
        return done.exit_code, done.output

    with open_service(db) as service:
        service.set_admin_password("the first password")
        assert run("add", "maria", "--role", "adjudicator")[0] == 0
        code, text = run("add", "maria", "--role", "viewer")
        assert code != 0 and "an account 'maria' already exists" in text
        code, text = run("add", "otto", "--role", "king")
        assert code != 0 and "a role is owner, adjudicator, viewer, member" in text
        assert "maria" in run("list", "--json")[1]
        assert service.admin_login("a long password", name="maria").role == "adjudicator"
        assert run("password", "admin", password="a forgotten one is reset")[0] == 0
        assert service.admin_login("a forgotten one is reset").role == "owner"
        code, text = run("close", "admin")
        assert code != 0 and "last owner" in text
        assert run("close", "maria")[0] == 0
        with pytest.raises(NotAllowed):
            service.admin_login("a long password", name="maria")
