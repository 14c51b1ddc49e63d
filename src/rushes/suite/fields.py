"""What the papers of a field print, as the instruments of a suite file: `rushes suite init --for`."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Field: TypeAlias = Literal["text-to-video", "talking-head", "animation"]
FIELDS: tuple[Field, ...] = get_args(Field)

_CLIP = "[instruments.clip]            # the settings are the arguments of rushes.evaluate_clips"
_CUT = 'cut = "shortest"              # of two lengths the shorter: the rest of the longer clip is not compared'
_DISTRIBUTION = """
[instruments.distribution]    # between the sets of clips; needs a network: rushes models pull i3d
metrics = ["fvd"]
"""
_DISTRIBUTION_LATER = """
# [instruments.distribution]    # FVD and FID-VID between the sets; needs weights: rushes models
# metrics = ["fvd"]
"""
_FIDELITY_LATER = f"""
# [instruments.fidelity]        # PSNR, SSIM, LPIPS …: clips that are to look like their references, frame by frame
# protocol = "wang2004"
# {_CUT}
"""
_ANY = f"""
{_CLIP}
motion = true
"""
_TEXT_TO_VIDEO = f"""
{_CLIP}
profile = "generated"
motion = true
metrics = ["temporal_disorder"]
"""
_TALKING_HEAD = f"""
{_CLIP}
profile = "talking-head"
tier = 1                      # faces: blinks, mouth and sound, jitter
motion = true
# metrics = ["word_error_rate"]       # the words; needs a network: rushes models pull whisper-small
# prompts = "prompts.csv"             # and their script, in a column script

# [instruments.eyes]            # gaze; needs a network: rushes models pull face-landmarker
# instrument = "clip"
# profile = "talking-head"
# face_model = "face-landmarker"
"""
_HEADS = """
[instruments.fidelity]        # frame by frame against the reference
metrics = ["psnr", "ssim"]
{cut}{resize}

[instruments.faces]           # needs networks: rushes models pull lpips face face-id
instrument = "fidelity"
metrics = ["lpips", "csim", "lmd", "mouth_lmd"]
{cut}{resize}

[instruments.voice]           # the reference's voice; needs networks: rushes models pull voice
instrument = "fidelity"
metrics = ["voice_similarity"]
{cut}{resize}
"""
_ANIMATION = """
[instruments.fidelity]        # the columns of human-animation papers, as DisCo computes them
metrics = ["disco_psnr", "disco_ssim", "disco_l1"]
{cut}{resize}

[instruments.perceptual]      # needs a network: rushes models pull lpips-vgg
instrument = "fidelity"
metrics = ["disco_lpips"]
{cut}{resize}
"""
_POSE = """
# [instruments.pose]            # PCK and MPJPE: files of key points, of one name in each system and the reference
# norms = ["torso-diameter"]    # rushes pose extract makes such files from clips
"""

_DIFFERENCES = """differences = ["head_motion", "blink_rate_hz"]
                              # head motion and blinks, as differences from the reference's"""


def reference_lines(field: Field | None) -> list[str]:
    """What a field's papers print beside the reference, as lines of `[reference]`."""
    return [_DIFFERENCES] if field == "talking-head" else []


def instruments_text(field: Field | None, *, reference: bool, resized: bool) -> str:
    """The instruments of a suite file; `reference`: there is one, `resized`: of other frame sizes than the systems."""
    clip = {"text-to-video": _TEXT_TO_VIDEO, "talking-head": _TALKING_HEAD}.get(field or "", _ANY)
    if not reference:
        return clip
    paired = {"talking-head": _HEADS, "animation": _ANIMATION}.get(field or "", "")
    resize = '\nresize_to = "gt"              # other frame sizes are brought to the reference\'s' if resized else ""
    later = "" if paired else _FIDELITY_LATER
    sets = _DISTRIBUTION_LATER if field is None else _DISTRIBUTION
    return clip + paired.format(cut=_CUT, resize=resize) + later + sets + (_POSE if field == "animation" else "")
