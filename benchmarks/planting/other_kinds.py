"""Faults of time, of the file, of the sound and of faces."""

from __future__ import annotations

from .kinds import damage, face, picture, sound, timeline
from .model import ENDS, Fault, Strength, kind, moves, of_file, strengths
from .source import write_source


def _cut(label: str, share: float, suffix: str = ".mp4", *, declared: bool = False) -> Strength:
    return Strength(label=label, plant=of_file(damage.truncated, share), suffix=suffix, declared=declared)


TIME: tuple[Fault, ...] = (
    kind(
        "freeze tail",
        "the end holds one frame; at least a quarter of the clip from 1 s on",
        "time",
        strengths(picture.freeze_tail, "{:g} s", (0.5, 1, 2)),
        fits=lambda f: f.seconds >= 3 and f.moves_late,
    ),
    kind(
        "doubled frames",
        "one frame in so many repeats the one before it",
        "time",
        strengths(picture.doubled, "1 in {}", (4, 2, 3)),
        fits=lambda f: f.fps >= 20 and moves(f),
    ),
    kind(
        "stutter",
        "one frame in so many repeats the one before it",
        "time",
        strengths(timeline.stutter, "1 in {}", (16, 8, 6)),
        fits=lambda f: f.fps >= 20 and moves(f),
    ),
    kind(
        "half-clip loop",
        "the first part of the clip over and over",
        "time",
        strengths(timeline.looped, "{} times", (3, 2, 4)),
        fits=moves,
    ),
    kind(
        "one-second loop",
        "the first seconds over and over",
        "time",
        strengths(timeline.looped_seconds, "{:g} s", (1.5, 1, 0.5)),
        fits=moves,
    ),
    kind(
        "reversed third",
        "the middle runs backwards",
        "time",
        strengths(timeline.reversed_part, "{:.0%}", (0.2, 1 / 3, 0.5)),
        fits=moves,
        expected=False,
    ),
    kind(
        "half backwards",
        "one half of the clip runs backwards, or each for itself",
        "time",
        strengths(timeline.reversed_half, "{}", ("first half", "second half", "each half")),
        fits=moves,
        expected=False,
    ),
    kind(
        "jump cut",
        "so much of the middle is missing",
        "time",
        strengths(timeline.jump_cut, "{:g} s", (0.4, 0.8, 1.5)),
        fits=lambda f: f.seconds >= 3 and moves(f),
    ),
    kind(
        "double speed",
        "the second half runs so many times as fast",
        "time",
        strengths(timeline.faster_half, "{:g} times", (1.5, 2, 3)),
        fits=moves,
    ),
    kind(
        "slideshow",
        "single pictures, each held; 0 s is one for the whole clip",
        "time",
        strengths(timeline.slideshow, "{:g} s each", (0.5, 0, 1)),
        fits=moves,
    ),
    kind(
        "shuffled",
        "groups of so many frames in another order; 0 is all",
        "time",
        strengths(timeline.shuffled, "by {}", (5, 3, 0)),
        fits=moves,
    ),
)
FILE: tuple[Fault, ...] = (
    kind(
        "truncated",
        "the file ends early; its header is whole and states the full length",
        "file",
        (_cut("nine tenths of an mp4", 0.9), _cut("half an mp4", 0.5, declared=True), _cut("half an mkv", 0.5, ".mkv")),
    ),
    kind(
        "corrupt packets",
        "a share of the bytes of the video packets overwritten with noise",
        "file",
        strengths(damage.corrupt_packets, "{:.1%}", (0.005, 0.01, 0.05), way="file"),
    ),
)
SOUND: tuple[Fault, ...] = (
    kind(
        "silent",
        "the track is silent",
        "sound",
        strengths(sound.silent_part, "{:.0%}", (0.9, 1.0, 0.99)),
        needs="sound",
    ),
    kind(
        "half missing",
        "the end of the sound is missing",
        "sound",
        strengths(sound.silent_part, "last {:.0%}", (0.25, 0.5, 0.75)),
        needs="sound",
    ),
    kind(
        "clipped",
        "raised above full scale by so much and cut off",
        "sound",
        strengths(sound.clipped, "{:g} dB", (15, 30, 40)),
        needs="sound",
    ),
    kind("DC offset", "a constant added", "sound", strengths(sound.offset, "{:g}", (0.2, 0.5, 0.8)), needs="sound"),
    kind(
        "channel lost",
        "one of two channels is silent",
        "sound",
        strengths(sound.lost_channel, "{}", ENDS),
        needs="sound",
    ),
    kind(
        "dropouts", "two holes a second", "sound", strengths(sound.dropouts, "{:g} ms", (40, 100, 200)), needs="sound"
    ),
    kind(
        "noise",
        "white noise so far below the sound",
        "sound",
        strengths(sound.noisy, "{:g} dB", (10, 0, -6)),
        needs="sound",
    ),
    kind("hum", "50 Hz so far below the sound", "sound", strengths(sound.hum, "{:g} dB", (6, 0, -6)), needs="sound"),
    kind(
        "fast sound",
        "the sound runs so much faster and ends early",
        "sound",
        strengths(sound.faster, "{:g} %", (6, 12, 25)),
        needs="sound",
    ),
    kind("tone", "a tone of 440 Hz in place of the sound", "sound", strengths(sound.tone, "{}", ENDS), needs="sound"),
    kind(
        "long sound",
        "the sound goes on after the picture has ended",
        "sound",
        strengths(sound.long_sound, "+{:g} s", (0.6, 0.9, 1.5)),
        needs="sound",
    ),
)
FACE: tuple[Fault, ...] = (
    kind(
        "late sound",
        "the sound of a speaker shifted against the picture",
        "face",
        strengths(sound.late_sound, "{:+g} s", (0.3, 0.5, -0.5)),
        needs="speech",
        profile="talking-head",
    ),
    kind(
        "swapped sound",
        "another speaker's sound",
        "face",
        (
            Strength(
                label="another speaker",
                declared=True,
                plant=lambda source, material, path: write_source(sound.swapped_sound(source, material.other), path),
            ),
        ),  # type: ignore[arg-type]
        needs="speech",
        profile="talking-head",
        uses=("other",),
    ),
    kind(
        "dead mouth",
        "mouth and chin held shut over the moving face, or one drifting picture",
        "face",
        (
            Strength(
                label="mouth held shut",
                declared=True,
                plant=lambda source, material, path: write_source(face.dead_mouth(source, material.faces), path),
            ),  # type: ignore[arg-type]
            Strength(
                label="drifting still picture",
                plant=lambda source, material, path: write_source(face.still_portrait(source, material.faces), path),
            ),
        ),  # type: ignore[arg-type]
        needs="speech",
        profile="talking-head",
        uses=("faces",),
    ),
    kind(
        "lost face",
        "the face covered in the middle",
        "face",
        strengths(face.lost_face, "{:g} s", (0.5, 1, 1.5), way="face"),
        needs="face",
        profile="talking-head",
        uses=("faces",),
    ),
    kind(
        "static over the face",
        "noise in place of the mouth or the face",
        "face",
        strengths(face.static_face, "{}", ("mouth", "whole clip", "second half"), way="face"),
        needs="face",
        profile="talking-head",
        uses=("faces",),
    ),
    kind(
        "another person",
        "another speaker from the middle on, after a dissolve of so long",
        "face",
        strengths(face.another_person, "{:g} s", (1, 0, 0.3), way="two"),
        needs="face",
        profile="talking-head",
        uses=("other",),
    ),
    kind(
        "melting face",
        "the face runs, by a share of its height at the end",
        "face",
        strengths(face.melting_face, "{:.0%}", (0.08, 0.15, 0.25), way="face"),
        needs="face",
        profile="talking-head",
        uses=("faces",),
    ),
    kind(
        "blurred face",
        "the face blurred with sigma = its height over so much",
        "face",
        strengths(face.blurred_face, "1/{:g}", (40, 20, 10), way="face"),
        needs="face",
        profile="talking-head",
        uses=("faces",),
    ),
    kind(
        "painted eyes",
        "the colour of the cheek over the eyes",
        "face",
        strengths(face.painted_eyes, "{}", ("one eye", "both eyes", "second half"), way="face"),
        needs="face",
        profile="talking-head",
        uses=("faces",),
    ),
)
