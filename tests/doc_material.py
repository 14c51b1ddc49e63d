"""What the pages of the documentation find in their folder: small files of the names they use, made in a second or so.

A page says what it needs in a comment, `<!-- test: takes generated real -->`; each name is a function here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
from typer.testing import CliRunner

from rushes.media import AudioTrack, write_clip

MATERIAL: dict[str, Callable[[], None]] = {}
"""By name: makes it in the working directory."""


@cache
def _kept() -> TemporaryDirectory[str]:
    """Where everything is made; it goes when the tests end."""
    return TemporaryDirectory(prefix="rushes-docs-")


def _new_folder() -> Path:
    return Path(mkdtemp(dir=_kept().name))


def material(make: Callable[[], None]) -> Callable[[], None]:
    """What makes it is called once, in a folder of its own; the pages get copies."""

    @cache
    def made() -> Path:
        home = _new_folder()
        with chdir(home):
            make()
        return home

    def copy() -> None:
        shutil.copytree(made(), ".", dirs_exist_ok=True)

    MATERIAL[make.__name__.rstrip("_")] = copy
    return copy


@cache
def sample(look: int, frames: int = 24, width: int = 96, fps: int = 25) -> Path:
    """Drifting stripes with a tone, by default one second, encoded once."""
    target = _new_folder() / f"{look}-{frames}.mp4"
    columns = np.arange(width)[None, :, None]
    waves = [128 + (60 - 15 * (look % 3)) * np.sin(2 * np.pi * (columns - 3 * t) / (12 + look)) for t in range(frames)]
    pictures = [np.broadcast_to(wave, (64, width, 3)).astype(np.uint8) for wave in waves]
    tone = (0.3 * np.sin(2 * np.pi * 220 * np.arange(15360) / 16000)).astype(np.float32)
    return write_clip(target, pictures, fps=fps, audio=AudioTrack.of(tone, 16000))


def put(look: int, *names: str, frames: int = 24, width: int = 96, fps: int = 25) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sample(look, frames, width, fps), name)


SHORT = 16
"""Frames of a clip in a set: one window of a network."""


@material
def take() -> None:
    put(0, "take.mp4", "take.mov")


@material
def takes() -> None:
    """Two clips of different size, length and rate, as real ones are."""
    put(0, "takes/take0.mp4")
    put(1, "takes/take1.mp4", frames=30, width=128, fps=30)


@material
def good_takes() -> None:
    for look in range(6):
        put(look, f"good_takes/take{look}.mp4")


@material
def out() -> None:
    put(0, "out/a/take0.mp4")


@material
def speech() -> None:
    put(0, "speech/take0.mp4", "speech.wav")


@material
def generated() -> None:
    for look in (1, 2, 4):
        put(look, f"generated/clip{look}.mp4", f"other/clip{look}.mp4", frames=SHORT)


@material
def real() -> None:
    for look in (0, 3, 6):
        put(look, f"real/clip{look}.mp4", frames=SHORT)


@material
def against() -> None:
    """Two clips in out/, and their references in truth/."""
    for look, name in enumerate("ab"):
        put(look + 3, f"out/{name}.mp4", frames=SHORT)
        put(look, f"truth/{name}.mp4", frames=SHORT)


@material
def systems() -> None:
    """Two systems with a clip per prompt, and the prompts."""
    for look, name in enumerate(("amber", "birch")):
        put(look, *(f"systems/{name}/p{n}.mp4" for n in (1, 2)), frames=SHORT)
    Path("systems/prompts.csv").write_text("task_id,prompt_id,prompt_text\nfluid,p1,a mountain stream\nfluid,p2,rain\n")


@material
def paper_suite() -> None:
    """Two systems and a reference with three prompts, rated by two people."""
    names = ("ground-truth", "amber", "birch")
    for look, name in enumerate(names):
        put(look, *(f"clips/{name}/p{n}.mp4" for n in (1, 2, 3)), frames=SHORT)
    prompts = "".join(f"p{n},stripes {n}\n" for n in (1, 2, 3))
    Path("clips/prompts.csv").write_text(f"prompt_id,prompt_text\n{prompts}")
    rated = [
        f"p{n},{name},r{rater},{5 - look - (n + rater) % 2}"
        for n in (1, 2, 3)
        for look, name in enumerate(names)
        for rater in (0, 1)
    ]
    Path("clips/ratings.csv").write_text("prompt_id,system,rater,look\n" + "\n".join(rated) + "\n")


@material
def judged() -> None:
    """Two systems with a clip per prompt of twelve, and a judge that knows colours."""
    from tests.instruments.judge.judged_world import WORDS, make_prompts, make_system

    make_prompts(Path("prompts.csv"))
    for name, contrast in (("amber", 0.6), ("birch", 0.3)):
        make_system(Path("out", name), contrast=contrast)
    Path("my_judge.py").write_text(_JUDGE.replace("WORDS", repr(WORDS)))


_JUDGE = """import cv2, numpy

def look(jpeg):
    picture = cv2.imdecode(numpy.frombuffer(jpeg, numpy.uint8), cv2.IMREAD_COLOR)
    hsv = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV_FULL)
    angles = hsv[..., 0][hsv[..., 2] > 100] * (2 * numpy.pi / 256)
    hue = round(float(numpy.angle(numpy.exp(1j * angles).mean()) / (2 * numpy.pi) * 12)) % 12
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(float)
    return WORDS[hue], float(grey.mean(axis=0).std() - grey.std(axis=0).mean())

def answer(request):
    text = " ".join(part["text"] for part in request["parts"] if "text" in part)
    seen = [look(part["frames"][0]) for part in request["parts"] if "clip" in part]
    if not seen:
        word = next(word for word in WORDS if f"a {word} curtain" in text)
        return {"questions": [{"question": f"Is it {word}?", "negated": f"Is it another colour than {word}?"}]}
    colour, sharp = seen[0]
    asked = [word for word in WORDS if f" {word} " in text or f" {word}?" in text]
    right = not asked or colour in asked
    if len(seen) == 2:
        if right != (not asked or seen[1][0] in asked):
            return {"answer": "A" if right else "B", "reason": f"the colour of A is {colour}"}
        return {"answer": "A" if sharp > seen[1][1] else "B", "reason": "clearer stripes"}
    if "or \\"no\\"" in text:
        return {"answer": "yes" if right != ("another" in text) else "no", "reason": f"it is {colour}"}
    if "prompt asks" in text:
        return {"answer": 5 if right else 1, "reason": f"it is {colour}"}
    return {"answer": max(1, min(5, round(sharp / 8))), "reason": f"contrast {sharp:.0f}"}
"""


@material
def classes() -> None:
    lines = [f"clip{look}.mp4,{'wide' if look > 2 else 'narrow'}" for look in (0, 1, 2, 3, 4, 6)]
    Path("classes.csv").write_text("\n".join(["name,class", *lines]) + "\n")


@material
def weights() -> None:
    """Where the specification says they lie; random, so no number of a page is to be believed."""
    for backbone, name in (("i3d", "i3d_pretrained_400.pt"), ("r3d50", "resnet-50-kinetics.pth")):
        target = Path("tools/eval_fvd") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_checkpoint(backbone), target)
    shutil.copy(_checkpoint("i3d"), "i3d.pt")


@cache
def _checkpoint(backbone: str) -> Path:
    from rushes.instruments.distribution.features.random_weights import write_random_checkpoint

    target = _new_folder() / f"{backbone}.pt"
    write_random_checkpoint(backbone, target)  # type: ignore[arg-type]
    return target


@material
def demo() -> None:
    """`demo/clips`, as `rushes demo` makes them."""
    shutil.copytree(_demo_clips(), "demo/clips")


@cache
def _demo_clips() -> Path:
    from rushes.instruments.clip.demo.samples import make_samples

    home = _new_folder() / "clips"
    make_samples(home)
    return home


@material
def demo_faces() -> None:
    """`demo/faces`, as `rushes demo` makes them, if the portrait has been pulled."""
    from rushes.instruments.clip.demo.faces import make_heads, read_portrait
    from rushes.vision.models.cache import is_pulled
    from rushes.vision.models.catalogue import group_named

    if is_pulled(group_named("astronaut")):
        make_heads(Path("demo/faces"), read_portrait())


@material
def demo_sets() -> None:
    """`demo/distribution`, as `rushes demo` makes it."""
    from rushes.instruments.distribution.demo import make_set

    home = Path("demo/distribution")
    make_set(home / "real", first=0, warmth=0.0, speed=1.0)
    make_set(home / "far", first=1, warmth=70.0, speed=5.0)


@material
def poses() -> None:
    """Four joints, the nose off by 0.06, the shoulder by 0.10, the hips exact: docs/pose.md opens with them."""
    gt = np.zeros((1, 17, 2))
    visible = np.zeros((1, 17))
    gt[0, 0], gt[0, 5], gt[0, 11], gt[0, 12] = (0.5, 0.0), (0.4, 0.3), (0.4, 0.6), (0.6, 0.6)
    visible[0, [0, 5, 11, 12]] = 1.0
    pred = gt.copy()
    pred[0, 0, 0] += 0.06
    pred[0, 5, 0] += 0.10
    np.savez("gt.npz", keypoints=gt, visibility=visible)
    np.savez("pred.npz", keypoints=pred, visibility=visible)


def rushes(*arguments: str) -> None:
    """The command line, whose verbs and options change least; in this process, and so are its workers."""
    from rushes.cli.main import app

    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output


@material
def runs() -> None:
    """Clip runs over the same two takes."""
    takes()
    rushes("clip", "takes", "-o", "runs/monday", "--jobs", "1")
    for name in ("tuesday", "main", "branch", "clip-1a2b3c4d"):
        shutil.copytree("runs/monday", f"runs/{name}")


@material
def gate_runs() -> None:
    """Fidelity runs of one system three times, of a faster one that is as good, and of one that is not; six clips."""
    for number, (name, lost) in enumerate(
        (("full", 0), ("full-seed2", 0), ("full-seed3", 0), ("int8", 0), ("int4", 4))
    ):
        _fidelity_run(name, number, lost=lost)


@material
def two_weeks() -> None:
    """Fidelity runs of last week's model, and of this week's, which is better."""
    _fidelity_run("last-week", 0, lost=2, clips=24)
    _fidelity_run("this-week", 1, lost=0, clips=24)


def _fidelity_run(name: str, number: int, *, lost: int, clips: int = 6) -> None:
    from rushes.core import Measurement
    from rushes.instruments.fidelity.metrics import psnr, ssim
    from rushes.storage.runs import Entry, RunWriter, Subject

    ids = [f"prompt{i}" for i in range(clips)]
    with RunWriter(Path("runs") / name, instrument="fidelity", settings={}) as run:
        for i, clip in enumerate(ids):
            wobble = (7 * i + 5 * number) % 11 / 11 - 0.5
            numbers = (
                Measurement(definition=psnr.PSNR, value=30 + i + 0.8 * wobble - lost, count=24),
                Measurement(definition=ssim.SSIM, value=0.9 + 0.01 * wobble - 0.02 * lost, count=24),
            )
            subject = Subject(id=clip, kind="pair", path=f"{name}/{clip}.mp4", sha256=None)
            run.add(Entry(subject=subject, measurements=numbers))
        run.finish(ids)


@material
def paid_study() -> None:
    """Clips of two systems, which differ in size and rate, and their prompts."""
    for prompt in range(6, 10):
        put(prompt, f"clips/model_a_T2_p{prompt:02d}.mp4", frames=SHORT)
        put(prompt + 10, f"clips/model_b_T2_p{prompt:02d}.mp4", frames=20, width=128, fps=30)
    lines = [f"T2,{prompt},Stripes drift to the right" for prompt in range(6, 10)]
    Path("prompts.csv").write_text("\n".join(["task_id,prompt_id,prompt_text", *lines]) + "\n")


@material
def other_runs() -> None:
    """Runs of two more kinds, for the page about reports."""
    poses()
    put(0, "take.mp4")
    rushes("pose", "pred.npz", "gt.npz", "--norm", "bbox-diagonal", "-o", "runs/pose-5e6f7a8b")
    rushes("sweep", "take.mp4", "--axis", "brightness=1.0,0.5", "-o", "sweep")
    rushes("robust", "sweep", "-o", "runs/robust-9c0d1e2f")


@material
def arrays() -> None:
    """pred, gt, visibility: names that a Python block of the pose page takes as given; see `NAMES`."""


NAMES = {
    "arrays": "import numpy as np\n"
    "gt = np.random.default_rng(0).uniform(0, 100, (17, 2)); pred = gt + 3; visibility = np.ones(17)\n"
    "preds, gts, visibilities = (np.stack([one] * 4) for one in (pred, gt, visibility))\n"
}
"""Python that goes before a block whose page says it has these names."""


@material
def study() -> None:
    """A study called takes in studies.db, voted on by programs; its clips measured in runs/model_a and runs/model_b."""
    votes()
    for system in ("model_a", "model_b"):
        rushes("clip", system, "-o", f"runs/{system}")


@material
def votes() -> None:
    """The study alone."""
    from rushes.study import ClipView, StudyPlan, open_service
    from rushes.study.demo import SimulatedClock, SimulatedRater
    from rushes.study.material.places import read_sources

    class Rater(SimulatedRater):
        def _system(self, clip: ClipView) -> str:
            return "model"  # no system is stronger: raters disagree, and there is something to adjudicate

    lines = ["task_id,prompt_id,prompt_text"]
    for prompt in range(6, 10):
        lines.append(f"T2,{prompt},Stripes drift to the right")
        put(prompt, f"clips/model_a_T2_p{prompt:02d}.mp4", f"model_a/model_a_T2_p{prompt:02d}.mp4")
        put(prompt + 10, f"clips/model_b_T2_p{prompt:02d}.mp4", f"model_b/model_b_T2_p{prompt:02d}.mp4")
    Path("prompts.csv").write_text("\n".join(lines) + "\n")
    clock = SimulatedClock()
    plan = StudyPlan(name="takes", title="Takes", seed=7, simulated=True)
    with open_service("studies.db", clock=clock) as service:
        service.create_study(plan, clips=read_sources([Path("prompts.csv")], clips=Path("clips")))
        raters = [Rater(service, clock, one) for one in service.invite("takes", count=4)]
        while any([rater.work() for rater in raters]):
            continue


@material
def votes_csv() -> None:
    """Counts of votes on three systems, two questions and five prompts."""
    pairs = (("amber", "birch", 9), ("amber", "cedar", 12), ("birch", "cedar", 10))
    rows = [
        f"{question},p{p},{a},{b},{n - p % 3},{15 - n + p % 3}"
        for question in ("lip", "head")
        for p in range(5)
        for a, b, n in pairs
    ]
    Path("votes.csv").write_text("question,prompt_id,system_a,system_b,votes_a,votes_b\n" + "\n".join(rows) + "\n")


@material
def ratings() -> None:
    from rushes.study import open_service
    from rushes.study.exchange import write_ratings

    study()
    with open_service("studies.db") as service:
        write_ratings("ratings.csv", service.votes("takes"))


@material
def scores() -> None:
    """Three systems on six prompts: a metric that two raters agree with, VBench's file of one system, a folder."""
    worth = {"amber": 2, "birch": 3, "cedar": 4}
    places = [(f"p{n}", system) for n in range(6) for system in worth]
    lines = [f"{p},{s},{0.1 * worth[s] + 0.01 * int(p[1])},{(7 * int(p[1]) + worth[s]) % 5}" for p, s in places]
    Path("scores.csv").write_text("prompt_id,system,clip_score,seconds\n" + "\n".join(lines) + "\n")
    rated = [f"{p},{s},{r},{worth[s] - (p == 'p1' and r == 'r1')}" for p, s in places for r in ("r0", "r1")]
    Path("ratings.csv").write_text("prompt_id,system,rater,quality\n" + "\n".join(rated) + "\n")
    Path("scores.toml").write_text('[clip_score]\nunit = "1"\nbetter = "higher"\nlowest = 0\nhighest = 1\n')
    video = '{"video_path": "amber/a cat-0.mp4", "video_results": 0.4}'
    Path("amber_eval_results.json").write_text(f'{{"scene": [0.4, [{video}]], "color": [0.9, []]}}')
