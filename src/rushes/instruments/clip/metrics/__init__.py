"""The clip metrics, a family a file, and the registry that everything else reads: nobody keeps a list of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rushes.core.definition import Definition, parse_signature
from rushes.core.errors import DefinitionError, InputError
from rushes.core.metric import ClipMetric
from rushes.core.registry import Registry
from rushes.core.words.options import option
from rushes.instruments.clip.input_param import names_input

_FAMILIES = (
    ("timing", "decode_ok video_duration_ms audio_duration_ms av_duration_delta_ms fps frame_count decode_failures"),
    ("timing", "corrupt_frames missing_frames duration_shortfall_ms"),
    ("motion", "scene_cut_count freeze_frame_ratio"),
    ("image", "flicker_score flicker_delta blur_score blur_p10"),
    ("motion", "frame_diff_spike_count"),
    ("stillness", "longest_freeze_ms longest_still_ms repeated_frame_ratio"),
    ("time.cadence", "native_fps stutter_ratio"),
    ("time.order", "replayed_ms reversed_ms frame_disorder"),
    ("time.jumps", "jump_ratio"),
    ("time.ghosting", "ghosting"),
    ("light", "luma_alternation longest_flat_ms"),
    ("image", "sharpness"),
    ("glitch", "odd_frame_score"),
    ("picture.drift", "light_drift light_pumping colour_drift hue_drift colour_loss"),
    ("picture.cast", "cast_step"),
    ("picture.jumps", "colour_step picture_turned picture_stretched end_frame_jump"),
    ("picture.parts", "frozen_part popping_part smeared_part bars_step"),
    ("picture.shake", "frame_jitter local_jitter row_wobble"),
    ("picture.stills", "noise_level static_part banding blocking seam_length picture_wrapped combing clipped_colour"),
    ("picture.stills", "peak_luma second_channel coding_quantiser"),
    ("flow", "flow_residual flow_backward_error flow_acceleration temporal_inconsistency"),
    ("disorder", "temporal_disorder"),
    ("vbench", "temporal_flickering temporal_flickering_opencv5"),
    ("warping", "warping_error warping_error_l1 warping_error_raft warping_error_l1_raft"),
    ("warping", "motion_magnitude motion_magnitude_px motion_magnitude_raft motion_magnitude_px_raft"),
    ("content", "plain_area_ratio moving_area_ratio"),
    ("face.presence", "face_present_ratio face_bbox_jitter landmark_jitter mouth_open_energy"),
    ("face.sync", "mouth_audio_corr"),
    ("face.blink", "blink_count blink_rate_hz blink_count_fixed blink_rate_hz_fixed"),
    ("face.sync", "mouth_audio_lag mouth_audio_null_mean mouth_audio_null_share"),
    ("face.sync_search", "mouth_audio_margin mouth_audio_offset_ms"),
    ("face.lip_sync", "lip_sync_offset_ms lip_speech_fit"),
    ("face.mouth", "mouth_speech_motion"),
    ("face.articulation", "articulation_distance"),
    ("face.presence", "longest_face_gap_ms"),
    ("face.head", "head_motion head_pose_spread"),
    ("face.liveliness", "head_distance gaze_spread brow_motion"),
    ("sound.loudness", "loudness_lufs loudness_range_lu true_peak_dbtp clipping_ratio clipping_ratio_lossy"),
    ("sound.loudness", "silence_ratio longest_silence_ms"),
    ("sound.damage", "crest_db dropout_count sound_gap_ms dc_offset channel_gap_db sound_dynamic_db steady_tone_db"),
    ("sound.damage", "hum_db hiss_db sound_cut_ms"),
    ("sound.dnsmos", "dnsmos_sig dnsmos_bak dnsmos_ovrl dnsmos_p808"),
    ("sound.distillmos", "distillmos"),
    ("sound.voice", "speech_ratio voice_drift"),
    ("sound.words", "word_error_rate words_per_minute"),
    ("face.syncnet.scores", "lse_d lse_c lse_offset"),
    ("face.identity", "identity_drift"),
    ("face.eyes", "eye_contrast face_detail"),
    ("seen.text", "text_error text_legible_ratio text_stability"),
    ("seen.subject", "feature_drift subject_drift background_drift subject_straightness"),
    ("seen.body", "extra_hand_ratio unseen_hand_ratio limb_stretch"),
    ("seen.midframe", "midframe_likeness"),
    ("seen.dynamic_degree", "dynamic_degree"),
    ("seen.shots", "shot_changes"),
    ("seen.natural", "niqe brisque"),
    ("seen.whole_clip", "upside_down_score negative_score red_blue_swapped_score"),
    ("seen.subject", "subject_sharpness background_sharpness subject_flicker background_flicker"),
)

_HOMES = {name: f"rushes.instruments.clip.metrics.{family}" for family, names in _FAMILIES for name in names.split()}

_LATER = (
    *(".flow", ".disorder", ".vbench", ".warping", ".dnsmos", ".presence", ".sync", ".blink", ".sync_search"),
    *(".mouth", ".head", ".scores", ".identity", ".eyes"),
)
"""Files in which nothing is measured at tier 0 unless it is asked for: they are not even loaded then."""

METRICS: Registry[ClipMetric] = Registry(
    "clip metric",
    group="rushes.clip_metrics",
    built_in={name: f"{home}:{name.upper()}_METRIC" for name, home in _HOMES.items()},
)
"""Built-in metrics in the bundle's order, with second readings beside the first; then those of other packages.

A name is the definition's own, but for second readings: `flicker_delta`, `blur_p10`, `blink_count_fixed`,
`blink_rate_hz_fixed` and `clipping_ratio_lossy`."""


def metrics_of(tier: int, extra: Iterable[str] = (), *, motion: bool = False) -> dict[str, ClipMetric]:
    """The metrics of a run: the built-in ones up to this tier, in order, then `extra` ones of other packages by name.

    What needs optical flow is left out unless `motion` asks for it, and what is measured on request unless named.

    Raises `InputError` for a name that is not installed or cannot be loaded, and for one that needs a higher tier.
    """
    added = {name: installed(name) for name in sorted(set(extra))}
    for name, metric in added.items():
        if metric.tier > tier:
            raise InputError(f"{name} needs tier {metric.tier}; give {option(f'--tier {metric.tier}')} as well")
    plain = not tier and not motion
    named = (name for name, home in _HOMES.items() if name in added or not (plain and home.endswith(_LATER)))
    built_in = {name: METRICS[name] for name in named}
    found = {name: metric for name, metric in built_in.items() if name in added or not metric.on_request} | added
    return {
        name: metric
        for name, metric in found.items()
        if metric.tier <= tier and (motion or "motion" not in metric.needs)
    }


def names() -> Iterator[tuple[str, Definition]]:
    """What profiles, options, bundles and column heads call each metric."""
    for key, metric in ((key, known(key)) for key in METRICS):
        if metric is not None:
            yield from ((name, metric.definition) for name in (key, metric.label) if name)
    yield from ((name, METRICS[key].definition) for name, key in _PAPERS.items())


_PAPERS = {"Sync-C": "lse_c", "Sync-D": "lse_d", "LSE-C": "lse_c", "LSE-D": "lse_d", "WER": "word_error_rate"}
"""What papers call them."""


def is_extra(name: str) -> bool:
    """Whether a metric runs only where it is asked for: one on request, or one of another package."""
    return not METRICS.is_built_in(name) or METRICS[name].on_request


def readings(named: str) -> tuple[str, ...]:
    """The registry's names for what a rule or a user names: a reading, or a whole signature; () where there is none.

    >>> readings("blur_p10"), readings("flicker_score|plane:luma|range:full|statistic:mean-abs-delta|v:1")
    (('blur_p10',), ('flicker_delta',))
    """
    if "|" not in named:
        return (named,) if named in METRICS else ()
    try:
        name, params, _ = parse_signature(named)
    except DefinitionError:
        return ()
    found = (key for key in METRICS if known(key) is not None and METRICS[key].definition.name == name)
    return tuple(key for key in found if set(METRICS[key].definition.params) <= set(params.items()))


def installed(name: str) -> ClipMetric:
    """The metric of this name, checked; `InputError` where there is none, or it is not one."""
    metric = METRICS[name]
    if METRICS.is_built_in(name):
        return metric
    if not isinstance(metric, ClipMetric) or metric.definition.name != name:
        called = f"{type(metric).__name__} {getattr(getattr(metric, 'definition', None), 'name', '')}".strip()
        raise InputError(f"the clip metric {name!r} is not a rushes.core.metric.ClipMetric of that name; got {called}")
    if names_input(metric.definition):
        raise InputError(f"the clip metric {name!r} sets `input`, which Rushes sets for every clip metric; rename it")
    return metric


def known(name: str) -> ClipMetric | None:
    """The metric behind a stored number; None where its package is not here any more, or is broken."""
    try:
        return installed(name)
    except InputError:
        return None


def family(name: str) -> str:
    """The family of a built-in metric, by the file it is in; "" for a metric of another package.

    >>> family("longest_freeze_ms"), family("blink_count"), family("no_such_metric")
    ('stillness', 'face', '')
    """
    return _HOMES.get(name, "").removeprefix(f"{__name__}.").partition(".")[0]
