"""Faults of the picture: colour and light, structure."""

from __future__ import annotations

from .kinds import colour, damage, picture, structure
from .model import PARTS, Fault, Strength, coloured, kind, of_picture, strengths


def _glitch(label: str, *kinds: str, declared: bool = False) -> Strength:
    plant = of_picture(picture.glitch, kinds)
    return Strength(label=label, plant=plant, declared=declared)


COLOUR: tuple[Fault, ...] = (
    kind(
        "luminance drift",
        "the light changes steadily, by so many luma levels of 255 at the end",
        "colour and light",
        strengths(colour.luminance_drift, "{:g} levels", (30, 60, 90)),
    ),
    kind(
        "saturation burn",
        "saturation grows steadily",
        "colour and light",
        strengths(colour.saturation_burn, "to {:g} times", (1.6, 2.5, 4)),
        fits=coloured,
    ),
    kind(
        "hue drift",
        "hue turns steadily",
        "colour and light",
        strengths(colour.hue_drift, "{:g}°", (20, 40, 80)),
        fits=coloured,
    ),
    kind(
        "colour step",
        "the middle third has a warm cast, as where chunks were generated apart",
        "colour and light",
        strengths(colour.colour_step, "±{:g} levels", (6, 12, 24)),
    ),
    kind(
        "bright cast",
        "a nearly white picture has a warm cast from the middle on",
        "colour and light",
        strengths(colour.bright_cast, "{:g} levels", (10, 20, 30)),
    ),
    kind(
        "ramped cast",
        "a cold cast of 24 levels comes in within so many frames",
        "colour and light",
        strengths(colour.ramped_cast, "{} frames", (3, 8, 24)),
    ),
    kind(
        "colour lost",
        "from the middle on little or no colour is left",
        "colour and light",
        strengths(colour.colour_lost, "{:.0%} kept", (0.4, 0.0, 0.15)),
        fits=coloured,
    ),
    kind(
        "fade to grey",
        "colour fades steadily, to so much of it at the end",
        "colour and light",
        strengths(colour.saturation_burn, "{:.0%} kept", (0.4, 0.0, 0.15)),
        fits=coloured,
    ),
    kind(
        "red and blue swapped",
        "two planes change places",
        "colour and light",
        strengths(colour.swapped_planes, "{}", PARTS),
        fits=coloured,
    ),
    kind("banding", "too few bits a plane", "colour and light", strengths(colour.banding, "{} bits", (6, 5, 4))),
    kind(
        "pumping",
        "exposure swings once a second",
        "colour and light",
        strengths(colour.pumping, "±{:g} levels", (10, 20, 35)),
    ),
    kind(
        "first-frame flash",
        "the first frame alone is brighter",
        "colour and light",
        strengths(colour.first_flash, "+{:g} levels", (40, 120, 255)),
    ),
    kind(
        "green first frames",
        "the clip begins with green frames",
        "colour and light",
        strengths(colour.green_start, "{} frames", (1, 6, 12)),
    ),
    kind(
        "green corner",
        "the upper left ninth of the picture is green for so long",
        "colour and light",
        strengths(colour.green_corner, "{:g} s", (0.15, 0.3, 0.6)),
    ),
    kind("negative", "every value is 255 minus itself", "colour and light", strengths(colour.negative, "{}", PARTS)),
    kind(
        "strobe",
        "every second frame brighter, the others darker, by so many luma levels",
        "colour and light",
        strengths(picture.strobe, "±{:g} levels", (4, 7, 15)),
    ),
    kind(
        "black gap",
        "black frames in the middle",
        "colour and light",
        strengths(picture.black_gap, "{:g} s", (0.2, 0.4, 0.8)),
    ),
)
STRUCTURE: tuple[Fault, ...] = (
    kind("grain", "grey noise, new in every frame", "structure", strengths(structure.grain, "sigma {:g}", (9, 18, 30))),
    kind(
        "melt",
        "shapes run from a third of the clip on",
        "structure",
        strengths(structure.melt, "{:.0%} of the height", (0.02, 0.05, 0.1)),
    ),
    kind(
        "morph",
        "the picture dissolves into another scene",
        "structure",
        strengths(structure.morph, "within {:g} s", (2, 1, 0.5), way="two"),
        uses=("other",),
    ),
    kind(
        "pop",
        "something is there for half a second",
        "structure",
        strengths(structure.pop, "{:.0%} of the side", (0.2, 0.35, 0.5), way="two"),
        uses=("other",),
    ),
    kind(
        "smeared third",
        "the lower third is smeared for so long",
        "structure",
        strengths(structure.smeared_third, "{:g} s", (0.4, 1, 2)),
    ),
    kind(
        "wobble",
        "rows slide in a rolling wave",
        "structure",
        strengths(structure.wobble, "{:.1%} of the height", (0.01, 0.02, 0.04)),
    ),
    kind(
        "combing",
        "two fields woven into one frame",
        "structure",
        strengths(structure.combing, "one frame in {}", (3, 1, 2)),
        fits=lambda facts: facts.motion >= 2,
    ),
    kind(
        "ghosting",
        "each frame is the mean of several",
        "structure",
        strengths(structure.ghosting, "{} frames", (3, 4, 6)),
        fits=lambda facts: facts.motion >= 2,
    ),
    kind(
        "blended frames",
        "each frame is the mean of several around it",
        "structure",
        strengths(structure.blended, "{} frames", (2, 5, 6)),
        fits=lambda facts: facts.motion >= 2,
    ),
    kind(
        "halves swapped",
        "two halves of the picture have changed places",
        "structure",
        strengths(structure.swapped_halves, "{}", ("top and bottom", "left and right", "quarters")),
    ),
    kind(
        "rolling",
        "the picture rolls down by so many heights a second",
        "structure",
        strengths(structure.rolling, "{:g} heights", (0.1, 0.4, 1)),
    ),
    kind(
        "rolling sideways",
        "the picture rolls to the right by so many widths a second",
        "structure",
        strengths(structure.rolling_sideways, "{:g} widths", (0.1, 0.4, 1)),
    ),
    kind(
        "letterbox change",
        "bars appear in the middle of the clip",
        "structure",
        strengths(structure.letterbox, "{:.0%} each", (0.06, 0.12, 0.2)),
    ),
    kind(
        "aspect stretch",
        "the second half is wider",
        "structure",
        strengths(structure.stretched, "{:g} times", (1.1, 1.25, 1.4)),
    ),
    kind(
        "watermark",
        "letters over the centre through the whole clip",
        "structure",
        strengths(structure.watermark, "{:.0%} opaque", (0.3, 0.6, 1.0)),
        expected=False,
    ),
    kind(
        "half frozen",
        "one half of the picture stands still for a part of the clip",
        "structure",
        strengths(structure.half_frozen, "last {:.0%}", (0.25, 0.5, 1.0)),
        fits=lambda facts: facts.moves_right,
    ),
    kind(
        "jitter",
        "every frame is shifted at random, by up to a part of the height",
        "structure",
        strengths(structure.jitter, "height/{:g}", (120, 60, 30)),
    ),
    kind(
        "boiling warp",
        "a small warp, new in every frame",
        "structure",
        strengths(structure.boiling, "{:g} px", (1, 2, 4)),
    ),
    kind("white noise", "noise in place of the picture", "structure", strengths(structure.white_noise, "{}", PARTS)),
    kind("scrambled tiles", "4 × 4 tiles in another order", "structure", strengths(structure.scrambled, "{}", PARTS)),
    kind(
        "upside-down",
        "the picture is turned by half a turn",
        "structure",
        strengths(structure.upside_down, "{}", PARTS),
    ),
    kind(
        "soft",
        "Gaussian blur, sigma relative to the height",
        "structure",
        strengths(picture.soft, "sigma height/{:g}", (180, 90, 60)),
    ),
    kind(
        "starved of bits",
        "the same encoder at crf 38, 45, 51 (MPEG-4: quantiser 12, 24, 31)",
        "structure",
        strengths(damage.starved, "{}", ("weak", "declared", "strong"), way="file"),
    ),
    kind(
        "glitch",
        "single frames torn into bands, inverted or with a green quarter",
        "structure",
        (
            _glitch("one torn frame", "torn"),
            _glitch("three frames", "torn", "inverted", "green", declared=True),
            _glitch("one inverted frame", "inverted"),
        ),
        fits=lambda facts: facts.fps >= 8,
    ),
)
