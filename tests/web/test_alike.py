"""Can a rater's browser tell systems apart by anything but the picture? Three systems that differ in everything else.

Whatever a browser gets of a clip has to be the same for all systems of a sample, or new with every assignment.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.rubric import SIMPLE
from rushes.media import probe, write_clip
from rushes.study import StudyPlan
from rushes.study.errors import StudyError
from rushes.study.material.sources import from_csv

from .livesite import Client, Site, Study

SYSTEMS: dict[str, dict[str, Any]] = {
    "Northwind-XL": {"size": (64, 64), "fps": 8, "frames": 8, "crf": 18},
    "Southgate-Pro": {"size": (48, 96), "fps": 25, "frames": 35, "crf": 30},
    "Westerly-9": {"size": (80, 60), "fps": 12, "frames": 14, "crf": 10, "codec": "libx264", "options": {"bf": "0"}},
}
PROMPTS = 3


def pictures(system: int, prompt: int, *, size: tuple[int, int], frames: int) -> list[np.ndarray[Any, Any]]:
    rows, columns = np.mgrid[0 : size[0], 0 : size[1]]
    noise = np.random.default_rng([system, prompt]).integers(0, 20 + 40 * system, (*size, 3))
    return [(noise + ((rows + columns + 3 * k) % 120)[..., None]).clip(0, 255).astype(np.uint8) for k in range(frames)]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("differing")
    lines = ["sample_id,task_id,prompt_id,system,path"]
    for number, (system, facts) in enumerate(SYSTEMS.items()):
        for prompt in range(PROMPTS):
            path = folder / f"{system}_{prompt}.mp4"
            more = {key: facts[key] for key in ("codec", "options") if key in facts}
            frames = pictures(number, prompt, size=facts["size"], frames=facts["frames"] + prompt)
            write_clip(path, frames, fps=facts["fps"], crf=facts["crf"], **more)
            lines.append(f"p{prompt},T1,p{prompt},{system},{path.name}")
    (folder / "clips.csv").write_text("\n".join(lines) + "\n")
    return folder / "clips.csv"


@pytest.fixture
def made(site: Site, table: Path) -> Study:
    return study_of(site, table, "pairs")


def study_of(site: Site, table: Path, text: str) -> Study:
    asked = method(text)
    plan = StudyPlan(
        name="northwind-xl-study",
        method=asked,
        rubric=SIMPLE if asked.is_pairs else rubric_of_method(asked),
        reference="Westerly-9" if asked.needs_reference else "",
        gold_every=0,
        repeat_every=0,
    )
    site.service.create_study(plan, training=False, clips=from_csv(table))
    return Study(site=site, name=plan.name)


RANGES = ("bytes=0-99", "bytes=1000-", "bytes=-500", "bytes=0-0,50-60", "bytes=99999999-", "bytes=5-2")
"""What a browser may ask for: a part, the rest, the end, two parts, beyond the end, and nonsense."""


def answers_to_ranges(client: Client, address: str) -> list[object]:
    """Status, length, place and kind of what is sent for parts of a clip."""
    found: list[object] = []
    for wanted in RANGES:
        answer = client.get(address, headers={"range": wanted})
        kind = answer.headers.get("content-type", "").partition(";")[0]
        found.append((answer.status_code, len(answer.content), answer.headers.get("content-range"), kind))
    head = client.head(address)
    asked_again = client.get(address, headers={"if-none-match": head.headers["etag"]})
    return [*found, head.status_code, head.headers["content-length"], asked_again.status_code]


def all_that_a_browser_gets(client: Client, clip: dict[str, Any], folder: Path) -> dict[str, object]:
    """Facts of one clip, all but its decoded picture."""
    answer = client.get(clip["address"])
    path = folder / "got.mp4"
    path.write_bytes(answer.content)
    facts = probe(path)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        track = bytes(stream.codec_context.extradata or b""), stream.time_base, stream.duration, stream.frames
        metadata = {**container.metadata, **stream.metadata}
        packets = [(p.pts, p.dts, p.duration, p.is_keyframe) for p in container.demux(stream) if p.size]
    with av.open(str(path)) as container:
        count = sum(1 for _ in container.decode(video=0))
    kept = ("date", "etag")
    return {
        "bytes": len(answer.content),
        "status": answer.status_code,
        "headers": sorted((name, value) for name, value in answer.headers.items() if name not in kept),
        "ranges": answers_to_ranges(client, clip["address"]),
        "times": packets,
        "encoder": sorted(set(re.findall(rb"x264 - core[ -~]*|Lavf[ -~]*|Lavc[ -~]*", answer.content))),
        "boxes": boxes(answer.content),
        "media": (facts.duration_ms, facts.video and (facts.video.width, facts.video.height, facts.video.fps)),
        "track": track,
        "frames": count,
        "metadata": metadata,
        "page": {key: value for key, value in clip.items() if key != "address"},
        "fresh": (clip["address"], answer.headers["etag"], hashlib.sha256(answer.content).hexdigest()),
    }


def boxes(content: bytes) -> list[str]:
    """The names of an MP4's outer boxes, in their order."""
    found, place = [], 0
    while place + 8 <= len(content):
        size = int.from_bytes(content[place : place + 4], "big")
        found.append(content[place + 4 : place + 8].decode("latin-1"))
        place += max(size, 8)
    return found


METHODS = ("pairs", "acr-5", "dcr-5", *(pytest.param(text, marks=pytest.mark.soak) for text in ("acr-hr-5", "pairs-7")))


@pytest.mark.parametrize("text", [*METHODS, "best-worst-3"])
def test_nothing_but_the_picture_tells_systems_apart(site: Site, table: Path, tmp_path: Path, text: str) -> None:
    made = study_of(site, table, text)
    client = made.rater(stage="training")
    session = client.cookies["rushes_rater"]
    shown = 0
    found: dict[str, list[dict[str, object]]] = {}
    pages = []
    while (task := made.service.next_task(session)) is not None:
        page, data = client.get("/rate"), client.get("/rate.json").json()
        pages.append(page.text)
        shown = len(task.clips)
        for side, view in task.clips.items():
            source = Path(made.service.media(view.token).source)
            got = all_that_a_browser_gets(client, data["clips"][side], tmp_path)
            found.setdefault(source.stem.rpartition("_")[2], []).append({"system": source.stem[:8], **got})
        decide(made, session, task)
    trials = {"pairs": 3, "acr": 3, "dcr": 2, "best": 1}[text.partition("-")[0]]  # of three systems, for each prompt
    assert sorted(map(len, found.values())) == [shown * trials] * PROMPTS
    for clips in found.values():
        assert len({clip["system"] for clip in clips}) == 3
        for name in clips[0].keys() - {"system", "fresh"}:
            assert len({repr(clip[name]) for clip in clips}) == 1, (name, [(c["system"], c[name]) for c in clips])
    fresh = [clip["fresh"] for clips in found.values() for clip in clips]
    for one in zip(*fresh, strict=True):
        assert len(set(one)) == len(fresh)  # address, validator and bytes of a clip differ from task to task
    seen = bytes(client.seen).lower()
    for system in SYSTEMS:
        assert system.lower().encode() not in seen
    figures = [figure for page in pages for figure in re.findall(r"<figure.*?</figure>", page, re.DOTALL)]
    bare = {re.sub(r'/media/[^"]+| now(?=")|"[A-E]"|lip [A-E]|>(?:Play )?[A-E]<', "", figure) for figure in figures}
    assert len(figures) == shown * len(pages) and len(bare) == (2 if text == "dcr-5" else 1), bare
    data = {key for page in pages for key in re.findall(r'data-(?:fps|required)="[^"]*"|class="pair [^"]*"', page)}
    assert len(data) == 3, data  # one frame, one rate, one number of watches for all pages


def decide(study: Study, session: str, task: Any, winner: str = "A") -> None:
    from rushes.study import Accepted, PlayEvent, VoteForm

    study.service.load_clips(session, task)
    study.site.app.state.pass_time(4000)
    plays = [PlayEvent(side=side, start_ms=0, end_ms=view.duration_ms, sequence=1) for side, view in task.clips.items()]
    study.service.record_play(session, task.assignment, plays)
    asked = task.method
    form = VoteForm(winner=winner, degree=1 if asked.degree else None)  # type: ignore[arg-type]
    if asked.rates:
        form = VoteForm(**{f"ratings_{asked.rated_side.lower()}": {"overall": 3}})  # type: ignore[arg-type]
    elif not asked.is_pairs:
        form = VoteForm(best="A", worst="B")
    answer = study.service.submit_vote(session, task.assignment, form, key="v")
    assert isinstance(answer, Accepted), answer


def test_an_adjudicator_cannot_join_clips_across_pairs(made: Study) -> None:
    """Two raters who always choose the other side: every pair is disputed, and each clip is in two pairs."""
    for chosen in ("A", "B"):
        session = made.rater(stage="training").cookies["rushes_rater"]
        while (task := made.service.next_task(session)) is not None:
            left, right = (Path(made.service.media(view.token).source).name for view in (task.a, task.b))
            decide(made, session, task, chosen if left < right else {"A": "B", "B": "A"}[chosen])
    client = made.admin()
    queue = client.get(f"/studies/{made.name}/adjudication.json").json()["queue"]
    clips = [clip for item in queue for clip in item["clips"]]
    assert len(clips) == 2 * 3 * PROMPTS
    answers = [client.get(clip["address"]) for clip in clips]
    assert {answer.status_code for answer in answers} == {200}
    for told in ([a.headers["etag"] for a in answers], [hashlib.sha256(a.content).digest() for a in answers]):
        assert len(set(told)) == len(clips)
    assert len({clip["address"] for clip in clips}) == len(clips)
    for item in queue:  # nor do the sizes of what is sent tell the clips of a pair apart
        assert len({repr(answers_to_ranges(client, clip["address"])) for clip in item["clips"]}) == 1


def test_the_title_is_blind_whatever_way_clips_come(site: Site, table: Path) -> None:
    """Created empty and filled afterwards, as the web page does."""
    site.service.create_study(StudyPlan(name="southgate-pro-2"), training=False)
    site.service.import_csv("southgate-pro-2", table)
    assert next(one.title for one in site.service.studies() if one.name == "southgate-pro-2") == "Video comparison"
    site.service.create_study(StudyPlan(name="plain", title="Is Southgate-Pro better?"), training=False)
    with pytest.raises(StudyError, match="the title names a system"):
        site.service.import_csv("plain", table)


def test_off_leaves_clips_as_they_are(site: Site, table: Path) -> None:
    site.service.create_study(StudyPlan(name="asis", alike="off"), training=False, clips=from_csv(table))
    session = Study(site=site, name="asis").rater(stage="training").cookies["rushes_rater"]
    task = site.service.next_task(session)
    assert task is not None and (task.a.width, task.a.height) != (task.b.width, task.b.height)
