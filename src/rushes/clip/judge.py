"""The clip bundle as the judge of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rushes.clip.evaluate import evaluate_clip
from rushes.clip.profile import Profile, load_profile
from rushes.core.judge import Judge, JudgeOptions, Verdict


@dataclass(frozen=True, slots=True)
class BundleJudge(Judge):
    """The clip bundle as judge: the badge is the answer, its reasons are the justification."""

    profile: Profile

    @classmethod
    def from_options(cls, argument: str, options: JudgeOptions) -> BundleJudge:
        """`bundle` under the profile of the options, `bundle:NAME` under a profile of its own."""
        profile = argument or options.profile
        return cls(profile if isinstance(profile, Profile) else load_profile(profile))  # type: ignore[arg-type]

    def describe(self) -> dict[str, object]:
        return {"kind": "bundle", "tier": 0, "profile": self.profile.name, "profile_sha256": self.profile.digest}

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        result = evaluate_clip(clip, tier=0, profile=self.profile)
        # A reason may name the file; the sweep's folder is no part of the verdict.
        reasons = "; ".join(result.reasons).replace(str(clip), clip.name)
        return Verdict(output=result.badge, justification=reasons)
