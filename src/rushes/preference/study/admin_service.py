"""The part of `StudyService` that is about administrators: accounts, passwords, signing in."""

from __future__ import annotations

from rushes.preference.study import administrators
from rushes.preference.study.database.connection import Database
from rushes.preference.study.records import AdminAccount, AdminSession
from rushes.preference.study.tokens import Clock


class AdminService:
    """Accounts of one database. Hashing a password happens outside transactions: it takes a while by design."""

    database: Database
    _clock: Clock

    def admin_exists(self) -> bool:
        """Whether an administrator's password has been set; until then only the page that sets it may open."""
        with self.database.glance() as connection:
            return administrators.exists(connection)

    def set_admin_password(
        self, password: str, *, current: str | None = None, name: str = administrators.FIRST
    ) -> None:
        """Store the password's argon2 hash. The very first time `current` is None; later it must be the account's
        present password. Its other sessions end."""
        if current is not None:
            self._check(name, current)
        hashed = administrators.hash_password(password)
        with self.database.write() as connection:
            if current is None:
                administrators.set_first(connection, hashed, now=self._clock())
            else:
                administrators.set_password(connection, name, hashed, action="password changed", now=self._clock())

    def _check(self, name: str, password: str) -> None:
        with self.database.read() as connection:
            row = administrators.account(connection, name)
        administrators.check_password(None if row is None else row.password_hash, password)

    def admins(self) -> tuple[AdminAccount, ...]:
        """The open accounts, by name."""
        with self.database.read() as connection:
            return administrators.accounts(connection)

    def add_admin(self, name: str, *, role: str, password: str) -> AdminAccount:
        """A new account: an owner may do everything, an adjudicator decides blind, a viewer only looks."""
        hashed = administrators.hash_password(password)
        with self.database.write() as connection:
            return administrators.add(connection, name, role, hashed, now=self._clock())

    def reset_admin_password(self, name: str, password: str) -> None:
        """Set an account's password without the old one: for whoever runs the server, or an owner."""
        hashed = administrators.hash_password(password)
        with self.database.write() as connection:
            administrators.need(connection, name)
            administrators.set_password(connection, name, hashed, action="password reset", now=self._clock())

    def close_admin(self, name: str) -> None:
        """End an account; what it did stays in the log. `StudyError` for the last owner."""
        with self.database.write() as connection:
            administrators.close(connection, name, now=self._clock())

    def admin_login(self, password: str, *, name: str = administrators.FIRST, device: str = "") -> AdminSession:
        """A session for the right password; `NotAllowed` for a wrong one or an unknown account, after the same time.
        `device` is a browser's own secret; `knows_device` says later whether it has signed in before."""
        self._check(name, password)
        with self.database.write() as connection:
            return administrators.open_session(connection, name, device=device, now=self._clock())

    def knows_device(self, name: str, device: str) -> bool:
        """Whether this account was signed in from this browser since its password was set."""
        with self.database.glance() as connection:
            return administrators.knows_device(connection, name, device)

    def admin_session(self, token: str) -> AdminSession:
        """The session of this cookie; `NotAllowed` when unknown or expired."""
        with self.database.glance() as connection:
            return administrators.read_session(connection, token, self._clock())

    def admin_logout(self, token: str) -> None:
        """End an administrator's session."""
        with self.database.write() as connection:
            administrators.close_session(connection, token)
