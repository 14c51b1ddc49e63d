"""Whether a study's results were made under a plan that was declared before."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationState:
    """Whether results were made under a declared plan."""

    digest: str
    """Of the plan that was declared; "" where none was."""
    votes_before: int = 0
    differs: tuple[str, ...] = ()
    """Parts of the content that are not as declared."""

    @property
    def matches(self) -> bool:
        return bool(self.digest) and not self.differs

    @property
    def text(self) -> str:
        """In one sentence, for terminal, page and report."""
        if not self.digest:
            return "not preregistered"
        when = "before the first vote" if not self.votes_before else f"after {self.votes_before} votes"
        found = "as declared" if self.matches else f"NOT as declared: {', '.join(self.differs)} differ"
        return f"sha256 {self.digest}, registered {when}; these results are {found}"

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"matches": self.matches, "differs": list(self.differs)}
