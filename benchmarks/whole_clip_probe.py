"""The weights behind `upside_down_score`, `negative_score` and `red_blue_swapped_score`, and how often they are right.

    python benchmarks/whole_clip_probe.py FOLDER           cross-validated by repository: what is found, what is not
    python benchmarks/whole_clip_probe.py FOLDER --write   the same, and the weights of all of them into the package
    python benchmarks/whole_clip_probe.py --clips LIST     the rules of `thorough` on a list of clips, as they are

FOLDER has one folder for each repository of `whole_clip_probe.csv`, OWNER/NAME, at the commit that is named there. Of
each repository so many pictures are taken, those whose paths have the lowest sha256, and of so many films, likewise,
five frames of the first 5 s. Repositories of the part of `verdict_clips.csv` that is only for checking are refused.

Each picture is cut, mirrored, made smaller and compressed at random before it is looked at, decided by its path. The
probe is a logistic regression without a constant on f(Tx) − f(x), with a squared penalty.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from planting.clips import Clip, read_clips
from rushes.core.machine.provenance import bytes_digest
from rushes.instruments.clip.metrics.seen.whole_clip import FEWEST
from rushes.instruments.clip.seen.whole_clip import (
    CHANGES,
    PROBE,
    WholeClipLook,
    features,
    reduced,
)
from rushes.instruments.clip.signals.profile import load_profile
from rushes.media import ClipReader
from rushes.vision.models.conversion import npz_bytes

LIST = Path(__file__).with_suffix(".csv")
HOME = Path(__file__).parents[1] / "src" / "rushes" / "instruments" / "clip" / "seen"
PENALTY, FRAME_WEIGHT, FOLDS = 0.05, 0.6, 5
LONGEST_S, MOST_FRAMES, FRAMES = 5.0, 400, 5
SHORT_SIDE, FILM_SIDE, LEAST_SIDE, LEAST_BYTES = 384, 240, 150, 6000
HALVED_BYTES, MOST_BYTES = 500_000, 2_500_000
GREY = 3.0
"""Levels that R, G and B are from their mean, on average, below which a picture is not used for its colours."""
RATES = (0.02, 0.01, 0.005)
PICTURES, FILMS = (".jpg", ".jpeg", ".png", ".webp"), (".mp4", ".gif", ".webm", ".avi", ".mov", ".mkv")
NO_PICTURE = re.compile(
    r"annot|/mask|label|groundtruth|seg|depth|trimap|icon|logo|lr_|_lr|/results?/|enhanced|badge", re.I
)
"""Parts of paths of what is drawn by a program about a picture."""

Rgb = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One picture, or one frame."""

    repository: str
    film: str
    """ "" for a picture."""
    differences: NDArray[np.float32]
    """Three changes × features."""
    coloured: bool


def rows() -> list[dict[str, str]]:
    with LIST.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def in_order(folder: Path, endings: Sequence[str], left_out: str) -> list[Path]:
    """Files with these endings, by the digest of their path in the repository."""
    without = tuple(left_out.split())
    found = [path for path in folder.rglob("*") if path.suffix.lower() in endings]
    named = {path.relative_to(folder).as_posix(): path for path in found}
    kept = [name for name in named if not (without and name.startswith(without)) and not NO_PICTURE.search(name)]
    return [named[name] for name in sorted(kept, key=lambda name: bytes_digest(name.encode()))]


def picture(path: Path) -> Rgb | None:
    """A picture at a short side of at most 384 pixels; None for a file of another size, and for what is transparent."""
    if not LEAST_BYTES <= path.stat().st_size <= MOST_BYTES:
        return None
    large = path.stat().st_size > HALVED_BYTES and path.suffix.lower() != ".png"
    how = cv2.IMREAD_UNCHANGED if path.suffix.lower() == ".png" else cv2.IMREAD_COLOR
    found = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_REDUCED_COLOR_2 if large else how)
    if found is None or found.dtype != np.uint8 or min(found.shape[:2]) < LEAST_SIDE:
        return None
    if max(found.shape[:2]) > 4 * min(found.shape[:2]) or (
        found.ndim == 3 and found.shape[2] == 4 and found[..., 3].min() < 250
    ):
        return None
    colours = np.repeat(found[..., None], 3, axis=2) if found.ndim == 2 else found[..., :3]
    return smaller(np.asarray(colours[..., ::-1], np.uint8), SHORT_SIDE)


def smaller(rgb: Rgb, short_side: int) -> Rgb:
    scale = short_side / min(rgb.shape[:2])
    if scale >= 1:
        return rgb
    size = round(rgb.shape[1] * scale), round(rgb.shape[0] * scale)
    return np.asarray(cv2.resize(np.ascontiguousarray(rgb), size, interpolation=cv2.INTER_AREA), np.uint8)


def compressed(rgb: Rgb, quality: int) -> Rgb:
    kept = cv2.imencode(".jpg", np.ascontiguousarray(rgb[..., ::-1]), [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return np.asarray(cv2.imdecode(kept, cv2.IMREAD_COLOR)[..., ::-1], np.uint8)


def varied(rgb: Rgb, seed: str) -> Rgb:
    """A part of the picture, mirrored or not, at one of six sizes and compressed."""
    chance = random.Random(seed)
    height, width = rgb.shape[:2]
    share, aspect = chance.uniform(0.65, 1), chance.uniform(0.85, 1.15)
    rows, columns = min(height, int(height * share * aspect)), min(width, int(width * share / aspect))
    if chance.random() < 0.3:
        rows, columns = height, width
    top, left = chance.randint(0, height - rows), chance.randint(0, width - columns)
    part = rgb[top : top + rows, left : left + columns]
    if chance.random() < 0.5:
        part = part[:, ::-1]
    part = smaller(part, chance.choice((384, 320, 256, 240, 200, 160)))
    return compressed(part, chance.choice((25, 40, 60, 80, 95)))


def frames(path: Path) -> list[Rgb]:
    """Five frames of the first 5 s; [] for what has fewer than three, or is too small."""
    found: list[Any] = []
    try:
        with av.open(str(path)) as container:
            for frame in container.decode(video=0):
                start = found[0].time or 0.0 if found else frame.time or 0.0
                if (frame.time or 0.0) - start > LONGEST_S or len(found) > MOST_FRAMES:
                    break
                found.append(frame)
    except (av.FFmpegError, IndexError, ValueError):
        return []
    if len(found) < 3 or min(found[0].width, found[0].height) < 100:
        return []
    chosen = [found[round((len(found) - 1) * (n + 0.5) / FRAMES)] for n in range(FRAMES)]
    return [compressed(smaller(one.to_ndarray(format="rgb24"), FILM_SIDE), 60) for one in chosen]


def colourfulness(picture: Rgb) -> float:
    values = picture.astype(np.float64)
    return float(np.abs(values - values.mean(axis=2, keepdims=True)).mean())


def looked_at(rgb: Rgb, repository: str, film: str = "") -> Seen:
    small = reduced(rgb)
    before = features(small)
    differences = np.stack([features(change(small)) - before for change in CHANGES.values()])
    return Seen(repository, film, differences.astype(np.float32), colourfulness(small) >= GREY)


def everything(folder: Path) -> Iterator[Seen]:
    """Every picture and every frame, repository by repository."""
    for row in rows():
        name, home = row["repository"], folder / row["repository"]
        taken = 0
        for path in in_order(home, PICTURES, row["left_out"]):
            if taken == int(row["pictures"]):
                break
            rgb = picture(path)
            if rgb is not None:
                taken += 1
                yield looked_at(varied(rgb, path.relative_to(folder).as_posix()), name)
        films = 0
        for path in in_order(home, FILMS, row["left_out"]):
            if films == int(row["films"]):
                break
            some = frames(path)
            films += bool(some)
            yield from (looked_at(rgb, name, str(path.relative_to(folder))) for rgb in some)
        print(f"{name}: {taken} pictures, {films} films", flush=True)


def fitted(differences: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """The vector w that minimises the mean of log(1 + exp(w·d)) plus the penalty; d below 0 is what is wanted."""
    scale = np.sqrt((differences**2).mean(axis=0)) + 1e-3
    x, share = differences / scale, weights / weights.sum()

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        along = x @ w.astype(np.float32)
        value = float(share @ np.logaddexp(0, along)) + PENALTY * float(w @ w)
        return value, (x.T @ (share / (1 + np.exp(-along)))).astype(np.float64) + 2 * PENALTY * w

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    return np.asarray(found.x / scale)


def folds(seen: Sequence[Seen]) -> NDArray[np.int64]:
    """A fold for each, whole repositories together, about equally large."""
    sizes, load, fold = Counter(one.repository for one in seen), [0] * FOLDS, {}
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        fold[name] = int(np.argmin(load))
        load[fold[name]] += size
    return np.array([fold[one.repository] for one in seen])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="pictures and films to fit the weights on")
    parser.add_argument("--clips", type=Path, help="a list of clips as `verdicts.py` takes it, to try the rules on")
    parser.add_argument("--split", help="only clips of this split")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--scores", type=Path, help="also write every cross-validated score here, as CSV")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    if asked.clips:
        try_rules([clip for clip in read_clips([asked.clips]) if asked.split in (None, clip.split)])
    if asked.folder is None:
        return
    checked = {
        row["source"] for row in csv.DictReader((LIST.parent / "verdict_clips.csv").open()) if row["split"] == "check"
    }
    assert not checked & {row["repository"] for row in rows()}, "these are for checking alone"
    seen = list(everything(asked.folder))
    fold, film = folds(seen), np.array([one.film for one in seen])
    made, lines = {}, []
    for number, name in enumerate(CHANGES):
        used = np.array([one.coloured or name != "red_blue_swapped" for one in seen])
        differences = np.stack([one.differences[number] for one in seen])
        weights = np.where(film == "", 1.0, FRAME_WEIGHT).astype(np.float32)
        scores = np.full(len(seen), np.nan)
        for n in range(FOLDS):
            rest = used & (fold != n)
            here = used & (fold == n)
            scores[here] = differences[here] @ fitted(differences[rest], weights[rest])
        report(name, seen, scores)
        lines += [(name, one.repository, one.film, f"{score:.4f}") for one, score in zip(seen, scores, strict=True)]
        made[name] = rounded(fitted(differences[used], weights[used]))
    if asked.scores:
        with asked.scores.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    if asked.write:
        content = npz_bytes(made)
        (HOME / PROBE).write_bytes(content)
        print(f"{PROBE}: {len(content)} bytes, sha256 {bytes_digest(content)}")


def rounded(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Four significant digits."""
    return np.array([float(f"{value:.3e}") for value in values], np.float32)


def report(name: str, seen: Sequence[Seen], scores: NDArray[np.float64]) -> None:
    """What is found where so many that nothing is wrong with are flagged; a changed picture has minus its score."""
    by_film: dict[str, list[float]] = {}
    for one, score in zip(seen, scores, strict=True):
        if one.film and np.isfinite(score):
            by_film.setdefault(one.film, []).append(score)
    films = np.array([np.mean(some) for some in by_film.values() if len(some) >= 2])
    pictures = np.array([s for one, s in zip(seen, scores, strict=True) if not one.film and np.isfinite(s)])
    for what, values in (("pictures", pictures), ("films", films)):
        for rate in RATES:
            limit = max(0.0, float(np.quantile(values, 1 - rate)))
            alarms = [
                f"{(every > limit).mean():.1%} of {what}" for what, every in (("pictures", pictures), ("films", films))
            ]
            hits = [
                f"{(-every > limit).mean():.1%} of {what}" for what, every in (("pictures", pictures), ("films", films))
            ]
            print(
                f"{name} above {limit:.2f} ({rate:.1%} of {what}): flags {', '.join(alarms)}; finds {', '.join(hits)}"
            )
    print(f"{name}: {len(pictures)} pictures, {len(films)} films", flush=True)


def clip_scores(path: Path) -> NDArray[np.float64]:
    """The three scores of a clip; NaN where the metric has no value."""
    with ClipReader(path) as reader:
        look = WholeClipLook(reader.facts)
        for frame in reader:
            look.add(frame)
    scores = look.finish().scores
    known = [column[~np.isnan(column)] for column in scores.T]
    return np.array([column.mean() if len(column) >= FEWEST else np.nan for column in known])


def try_rules(clips: Sequence[Clip]) -> None:
    """Flagged as they are, and found when changed as a whole, by what they are: a changed one has minus its score."""
    limits = {rule.metric: float(rule.threshold) for rule in load_profile("thorough").rules}
    scores = np.stack([clip_scores(clip.path) for clip in clips])
    for number, name in enumerate(CHANGES):
        limit, column = limits[f"{name}_score"], scores[:, number]
        for kind in (*dict.fromkeys(clip.kind for clip in clips), ""):
            some = column[[kind in ("", clip.kind) for clip in clips]]
            known = some[~np.isnan(some)]
            flagged, hits = int((known > limit).sum()), int((-known > limit).sum())
            count = f"{len(known)} of {len(some)} {kind or 'clips'} with a value"
            print(f"{name} above {limit:g}, {count}: flagged {flagged}, found {hits}", flush=True)
        for clip, score in zip(clips, column, strict=True):
            if score > limit:
                print(f"  flagged: {clip.source} {clip.name} ({clip.kind}), {score:.2f}")


if __name__ == "__main__":
    main()
