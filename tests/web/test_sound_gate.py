"""The sound check holds on the server too: a script that posts a vote without it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushes.media import AudioTrack, write_clip
from rushes.study import StudyPlan
from rushes.study.raters.sound_check import sequence

from .conftest import FPS, moving_bar
from .livesite import SYSTEMS, Client, Site, Study, filled, key_of, watch_all

TONE = AudioTrack.of((0.2 * np.sin(np.arange(8_000) / 5)).astype(np.float32), 16_000)


def one_pair(site: Site, folder: Path, *, sounding: bool, asked: bool) -> Study:
    rows = ["sample_id,task_id,prompt_id,system,path"]
    for number, system in enumerate(SYSTEMS):
        picture = list(moving_bar(90 + 80 * number, 2))[:12]
        write_clip(folder / f"{number}.mp4", picture, fps=FPS, audio=TONE if sounding else None)
        rows.append(f"s1,T1,p1,{system},{number}.mp4")
    (folder / "pairs.csv").write_text("\n".join(rows) + "\n")
    plan = StudyPlan(name="heard", gold_every=0, repeat_every=0, audio_check=asked)
    site.service.create_study(plan, training=False)
    site.service.import_csv("heard", folder / "pairs.csv")
    return Study(site=site, name="heard")


def agreed(study: Study) -> Client:
    token = study.service.accept_invite(study.service.invite(study.name)[0].token).token
    study.service.give_consent(token)
    client = study.site.client()
    client.cookies.set("rushes_rater", token, domain="127.0.0.1")
    return client


def test_a_vote_before_the_sound_check_is_refused(site: Site, tmp_path: Path) -> None:
    study = one_pair(site, tmp_path, sounding=True, asked=True)
    client = agreed(study)
    assert client.get("/rate").headers["location"] == "/rate/sound"
    session = client.cookies["rushes_rater"]
    task = study.service.next_task(session)  # what a script would find out some other way
    assert task is not None
    study.service.load_clips(session, task)
    form = {"assignment": task.assignment, "key": "k", "winner": "A", "primary_tag": task.tags[0]}
    form |= {f"ratings_{side}.{name}": "3" for side in "ab" for name in task.dimensions}
    early = client.send_quietly("/rate/vote", form)
    assert early.status_code == 409 and early.json()["missing"][0]["field"] == "sound"
    assert "Answer the sound check first" in early.json()["missing"][0]["message"]
    assert "Answer the sound check first" in client.post("/rate/vote", data=form | {"csrf_token": client.token()}).text
    assert study.service.votes("heard") == []
    assert client.send_form("/rate/sound", {"heard": sequence(1, "rater_01", 0)}).status_code == 303
    page = client.get("/rate")
    form = filled(watch_all(client, "/rate.json", study), key_of(page.text))
    assert client.send_quietly("/rate/vote", form).json()["accepted"]


@pytest.mark.parametrize(("sounding", "asked"), [(False, True), (True, False)])
def test_a_study_without_sound_or_without_the_check_asks_for_none(
    site: Site, tmp_path: Path, sounding: bool, asked: bool
) -> None:
    study = one_pair(site, tmp_path, sounding=sounding, asked=asked)
    client = agreed(study)
    form = filled(watch_all(client, "/rate.json", study), key_of(client.get("/rate").text))
    assert client.send_quietly("/rate/vote", form).json()["accepted"]
