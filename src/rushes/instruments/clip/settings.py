"""How the clips of a run are measured and judged: profile, models, and metrics of other packages."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.core.media_facts import exact_rate
from rushes.core.metric import ClipMetric
from rushes.core.words.options import option
from rushes.instruments.clip.faces.models import FaceSettings, Tier, load_face_settings
from rushes.instruments.clip.input_param import RAW, Input
from rushes.instruments.clip.metrics import METRICS, installed, is_extra, known, metrics_of
from rushes.instruments.clip.signals.profile import LEFT_OUT, Profile, at_hand, load_profile
from rushes.media.canon.mark import CanonMark
from rushes.media.find.clips import one_or_several

if TYPE_CHECKING:
    from rushes.instruments.clip.networks.metrics import NetworkMetric
    from rushes.vision.networks.manifest import Manifest


def needed_tier(
    profile: Profile, *, metrics: Iterable[str] = (), face_model: object = None, syncnet_weights: object = None
) -> Tier:
    """The lowest tier at which every rule but the optional ones, every metric and every file that was named is of use.

    >>> from rushes.instruments.clip.signals.profile import load_profile
    >>> needed_tier(load_profile("general")), needed_tier(load_profile("talking-head"))
    (0, 1)
    """
    names = {*(name for rule in profile.rules if not rule.optional for name in rule.readings), *metrics}
    tiers = [metric.tier for name in names if (metric := known(name)) is not None]
    files = 2 if syncnet_weights is not None else 1 if face_model is not None else 0
    return cast(Tier, max(files, *tiers, 0))


@dataclass(frozen=True, kw_only=True)
class ClipSettings:
    """Travels to worker processes, where the metrics of other packages are loaded by name."""

    profile: Profile
    faces: FaceSettings | None = None
    extra: tuple[str, ...] = ()
    """Metrics that run because they were asked for, by name, in the registry's order: those on request, and those of
    other packages."""
    motion: bool = False
    """Whether optical flow is taken."""
    networks: tuple[Manifest, ...] = ()
    """Networks of the user's own, in the order given."""
    form: CanonMark | None = None
    """The canonical form that the clips are measured in; None for the files as they are."""
    alike: AlikeForm | None = None
    """The common form that they are measured in as well; None for none."""
    left_out: tuple[str, ...] = ()
    """Metrics that the profile does without, because a network is not here."""
    left_out_line: str = ""
    """What there is to say of that, with the commands that get them."""
    given_up: tuple[tuple[str, str], ...] = ()
    """Of one clip: metrics of other packages that ended its worker, each with the note of its missing value."""

    @classmethod
    def load(
        cls,
        *,
        tier: Tier | None = None,
        profile: str | Path | Profile = "general",
        metrics: Iterable[str] = (),
        motion: bool = False,
        face_model: Path | str | None = None,
        syncnet_weights: Path | str | None = None,
        canon: bool = False,
        fps: Fraction | float | str | None = None,
        alike: AlikeForm | str | None = None,
        networks: Paths = (),
        begun: Mapping[str, object] | None = None,
    ) -> ClipSettings:
        """Profile, models and metrics, checked before any clip is read.

        Left out, the tier is the lowest at which every rule, metric and file can be used. Metrics on request and those
        of other packages run when `metrics` names them, or a rule of the profile does; so does optical flow when
        `motion` asks for it, or a rule does. `fps` is the rate of the canonical form, by default each clip's own;
        `alike` is a common form, as `AlikeForm.parse` reads it. `networks` are manifests of networks of the user's own,
        whose files are loaded here once to try them. `begun` are the settings of a run that is to be continued.
        """
        if fps is not None and not canon:
            raise InputError(f"a frame rate is for the canonical form; give {option('--canon')} as well")
        if alike and canon:
            raise InputError(
                f"the canonical form and a common form exclude each other; give {option('--canon')} or "
                f"{option('--alike FORM')}"
            )
        rules = profile if isinstance(profile, Profile) else load_profile(profile)
        asked = [metrics] if isinstance(metrics, str) else list(metrics)
        if tier is None:
            tier = needed_tier(rules, metrics=asked, face_model=face_model, syncnet_weights=syncnet_weights)
        here = at_hand(rules, begun=begun)
        rules = here.profile
        judged = [name for name in rules.extra_metrics if installed(name).tier <= tier]
        chosen = metrics_of(tier, [*asked, *judged])
        extra = [name for name in chosen if is_extra(name)]
        for name in extra:
            chosen[name].require()
        faces = load_face_settings(tier, face_model=face_model, syncnet_weights=syncnet_weights)
        return cls(
            profile=rules,
            faces=faces,
            extra=tuple(extra),
            motion=motion or rules.needs_motion,
            networks=_networks(networks),
            form=CanonMark(None if fps is None else exact_rate(fps)) if canon else None,
            alike=AlikeForm.parse(alike) if isinstance(alike, str) and alike else alike or None,
            left_out=here.left_out,
            left_out_line=here.line,
        )

    @property
    def input(self) -> Input:
        """How signatures spell what is measured."""
        return RAW if self.form is None else self.form.label

    @property
    def tier(self) -> Tier:
        return 0 if self.faces is None else self.faces.tier

    def __reduce__(self) -> tuple[Any, ...]:
        """The fields alone, packed once for all clips of a run: metrics are loaded by name where it arrives."""
        return _unpacked, (self._packed,)

    @cached_property
    def _packed(self) -> bytes:
        return pickle.dumps({field.name: getattr(self, field.name) for field in fields(self)})

    @cached_property
    def metrics(self) -> Mapping[str, ClipMetric]:
        own = {name: one.metric for name, one in self.network_metrics.items()}
        every = metrics_of(self.tier, self.extra, motion=self.motion) | own
        return every | {name: every[name].without_code(note) for name, note in self.given_up}

    @property
    def network_metrics(self) -> dict[str, NetworkMetric]:
        """The metrics of the user's own networks, by name."""
        if not self.networks:
            return {}
        from rushes.instruments.clip.networks.metrics import metrics_of_network

        found = (one for manifest in self.networks for one in metrics_of_network(manifest))
        return {one.definition.name: one for one in found}

    @property
    def needs_prompt(self) -> bool:
        """Whether a value depends on the clip's prompt or script."""
        texts = any(manifest.text is not None for manifest in self.networks)
        return texts or any(metric.needs & {"prompt", "script"} for metric in self.metrics.values())

    def as_dict(self) -> dict[str, object]:
        """What a run records: everything that can move a value or a badge."""
        data: dict[str, object] = {
            "input": self.input,
            "tier": self.tier,
            "profile": self.profile.name,
            "profile_sha256": self.profile.digest,
        }
        data |= {LEFT_OUT: list(self.left_out)} if self.left_out else {}
        data |= {"motion": True} if self.motion else {}
        data |= {} if self.alike is None else {"alike": self.alike.label}
        data |= {} if self.faces is None else self.faces.as_dict()
        data |= {"metrics": {name: dict(_origin(name, self.input)) for name in self.extra}} if self.extra else {}
        return data | ({"networks": {one.name: one.network.sha256 for one in self.networks}} if self.networks else {})


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> ClipSettings:
    """The same settings for every clip of a run, with the metrics that they have found."""
    return ClipSettings(**pickle.loads(packed))  # of a process of our own  # nosec B301


def _networks(given: Paths) -> tuple[Manifest, ...]:
    """Networks of the user's own, loaded once to try them; `InputError` where two would share a metric's name."""
    paths = one_or_several(given)
    if not paths:
        return ()
    from rushes.instruments.clip.networks.metrics import metrics_of_network
    from rushes.instruments.clip.networks.watch import load_towers
    from rushes.vision.networks.files import load_manifest

    found = tuple(load_manifest(path) for path in paths)
    taken = dict.fromkeys(METRICS, "a metric of Rushes")
    for manifest in found:
        for one in metrics_of_network(manifest):
            name = one.definition.name
            if name in taken:
                raise InputError(f"{manifest.path}: {name} is the name of {taken[name]}; give the network another name")
            taken[name] = f"a metric of {manifest.path}"
        load_towers(manifest)
    return found


@lru_cache(maxsize=256)
def _origin(name: str, form: Input) -> Mapping[str, str]:
    """Signature of a metric that was asked for, and of another package's which package in which version."""
    signature = METRICS[name].definition.add_params(input=form).signature
    if METRICS.is_built_in(name):
        return {"signature": signature}
    (point,) = list(metadata.entry_points(group=METRICS.group, name=name))[:1]
    package = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
    return {"signature": signature, "package": package}
