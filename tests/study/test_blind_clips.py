"""What raters get of a clip: nothing that tells the systems apart; and only the file that was imported."""

from __future__ import annotations

import shutil

import av
import numpy as np
import pytest

from rushes.core.machine.provenance import file_digest
from rushes.media import write_clip
from rushes.study import StudyPlan
from rushes.study.material.clips import ready_clips
from rushes.study.material.sources import from_csv

ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""About files and words: refused or made before anything is stored, so one database says it all."""


@pytest.fixture
def pairs(tmp_path, takes):
    """Two systems, two prompts; alpha's maker signed its clips."""
    rows = ["sample_id,task_id,prompt_id,system,path"]
    for system in ("alpha", "beta"):
        for place in (0, 1):
            source = takes / f"{system}_T1_p0{place}.mp4"
            path = tmp_path / source.name
            with av.open(str(source)) as read, av.open(str(path), "w") as out:
                if system == "alpha":
                    out.metadata["title"] = "WanVideo 2.1 seed 42"
                stream = out.add_stream_from_template(read.streams.video[0])
                for packet in read.demux():
                    if packet.dts is not None:
                        packet.stream = stream
                        out.mux(packet)
            rows.append(f"s{place},T1,{place},{system},{path.name}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "pairs.csv"


def served(service, name):
    with service.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM clip").mappings().all()
    return {(row["system"], row["name"]): row for row in rows}


@ON_SQLITE
def test_no_clip_is_served_with_its_metadata(service, pairs):
    service.create_study(StudyPlan(name="s"), training=False, clips=from_csv(pairs))
    rows = served(service, "s").values()
    assert len(rows) == 4
    for row in rows:
        path = service.media_folder / row["path"]
        data = path.read_bytes()
        assert b"WanVideo" not in data and b"Lavf" not in data
        assert (row["treatment"], row["content_type"]) == ("copied", "video/mp4") and row["path"].endswith(".mp4")
        assert row["served_sha256"] == file_digest(path) and row["sha256"] == file_digest(row["source"])
    imported = next(entry for entry in service.audit("s") if entry.action == "imported")
    assert imported.detail["clips"] == {"copied without metadata": 4, "encoded again": 0, "because": []}


@ON_SQLITE
def test_where_one_must_be_encoded_all_are(service, pairs):
    """One clip of beta is a kind no browser plays: alpha's are not left as they were beside it."""
    folder = pairs.parent
    write_clip(folder / "beta_T1_p01.mkv", [np.full((32, 48, 3), 40 + 9 * n, np.uint8) for n in range(12)], fps=25)
    pairs.write_text(pairs.read_text().replace("beta_T1_p01.mp4", "beta_T1_p01.mkv"))
    service.create_study(StudyPlan(name="s"), training=False, clips=from_csv(pairs))
    rows = served(service, "s").values()
    assert {row["treatment"] for row in rows} == {"encoded"}
    assert {row["path"].rsplit(".", 1)[1] for row in rows} == {"mp4"}
    imported = next(entry for entry in service.audit("s") if entry.action == "imported")
    assert imported.detail["clips"]["because"] == ["beta_T1_p01.mkv: not every browser plays it"]


def test_different_containers_are_made_one(tmp_path, takes):
    webm = tmp_path / "beta.webm"
    write_clip(webm, [np.full((32, 48, 3), 40 + 9 * n, np.uint8) for n in range(6)], codec="libvpx-vp9")
    mp4 = takes / "alpha_T1_p00.mp4"
    alone = ready_clips([webm], media=tmp_path / "media", hide=[])
    assert alone[webm].content_type == "video/webm" and alone[webm].treatment == "copied"
    both = ready_clips([mp4, webm], media=tmp_path / "media", hide=[])
    assert {one.content_type for one in both.values()} == {"video/mp4"}
    assert {one.treatment for one in both.values()} == {"encoded"}


def test_a_name_inside_the_packets_has_all_encoded(tmp_path, two_systems):
    """What stands in the coded data itself cannot be dropped by copying."""
    signed, other = tmp_path / "one.mp4", tmp_path / "two.mp4"
    shutil.copy(two_systems / "beta_T1_p00.mp4", other)
    with av.open(str(two_systems / "alpha_T1_p00.mp4")) as read, av.open(str(signed), "w") as out:
        stream = out.add_stream_from_template(read.streams.video[0])
        for packet in read.demux():
            if packet.dts is None:
                continue
            filler = b"\x0cSoRa2!\x80"  # a NAL unit of filler data, type 12
            fresh = av.Packet(bytes(packet) + len(filler).to_bytes(4, "big") + filler)
            fresh.pts, fresh.dts, fresh.time_base = packet.pts, packet.dts, packet.time_base
            fresh.stream, fresh.is_keyframe = stream, packet.is_keyframe
            out.mux(fresh)
    made = ready_clips([signed, other], media=tmp_path / "media", hide=["sora2"])
    assert {one.treatment for one in made.values()} == {"encoded"}
    assert all(b"sora2" not in one.path.read_bytes().lower() for one in made.values())
