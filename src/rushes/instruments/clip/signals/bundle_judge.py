"""The clip bundle as the judge of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rushes.core.judge import Judge, JudgeOptions, Verdict
from rushes.core.words.options import option
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.faces.models import Tier, load_face_settings
from rushes.instruments.clip.metrics import known
from rushes.instruments.clip.signals.profile import Profile, at_hand, load_profile

_HEARD = frozenset({"sound", "levels", "syncnet"})
"""Needs of a metric that is computed from the sound's samples. Lengths of streams are not: no audio axis moves them."""


@dataclass(frozen=True, slots=True)
class BundleJudge(Judge):
    """The clip bundle as judge: the badge is the answer, its reasons are the justification."""

    profile: Profile
    tier: Tier = 0

    @classmethod
    def from_options(cls, argument: str, options: JudgeOptions) -> BundleJudge:
        """`bundle` under the profile of the options, `bundle:NAME` under a profile of its own; at the options' tier."""
        profile = argument or options.profile
        rules = profile if isinstance(profile, Profile) else load_profile(profile)  # type: ignore[arg-type]
        return cls(at_hand(rules).profile, cast(Tier, options.tier))

    def check(self) -> None:
        """Refuse, before the first run, a tier whose models are not here."""
        load_face_settings(self.tier)

    def describe(self) -> dict[str, object]:
        faces = load_face_settings(self.tier)
        return {
            "kind": "bundle",
            "tier": self.tier,
            "profile": self.profile.name,
            "profile_sha256": self.profile.digest,
            **({} if faces is None else faces.as_dict()),
        }

    def uses_seed(self) -> bool:
        return False

    def cannot_see(self, axis: str, *, sound: bool) -> str:
        names = {name for rule in self.profile.rules for name in rule.readings}
        rules = [metric for name in names if (metric := known(name)) is not None and metric.tier <= self.tier]
        if not sound or any(metric.needs & _HEARD for metric in rules):
            return ""
        return (
            f"no rule of the profile {self.profile.name} uses the sound at tier {self.tier}; "
            f"{option('--tier 1')} with {option('--profile talking-head')} does"
        )

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        result = evaluate_clip(clip, tier=self.tier, profile=self.profile)
        # A reason may name the file; the sweep's folder is no part of the verdict.
        reasons = "; ".join(result.reasons).replace(str(clip), clip.name)
        return Verdict(output=result.badge, justification=reasons)
