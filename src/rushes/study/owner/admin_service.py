"""The part of `StudyService` that is about administrators: accounts, passwords, signing in."""

from __future__ import annotations

from rushes.study.owner import administrators
from rushes.study.records import AdminAccount, AdminSession
from rushes.study.transactions import GLANCE, READ, WRITE, Transactions, method, timed


class AdminService(Transactions):
    """Accounts of one database. Hashing a password happens outside transactions: it takes a while by design."""

    admin_exists = method(GLANCE, administrators.exists)
    admins = method(READ, administrators.accounts)
    close_admin = timed(WRITE, administrators.close)
    knows_device = method(GLANCE, administrators.knows_device)
    admin_session = timed(GLANCE, administrators.read_session)
    admin_logout = method(WRITE, administrators.close_session)

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

    def admin_login(self, password: str, *, name: str = administrators.FIRST, device: str = "") -> AdminSession:
        """A session for the right password; `NotAllowed` for a wrong one or an unknown account, after the same time.
        `device` is a browser's own secret; `knows_device` says later whether it has signed in before."""
        self._check(name, password)
        with self.database.write() as connection:
            return administrators.open_session(connection, name, device=device, now=self._clock())
