"""The endings a folder is searched for, held against libav's own tables."""

from __future__ import annotations

from pathlib import Path

import av
from av.format import ContainerFormat

from rushes.media.find.endings import AUDIO_SUFFIXES, VIDEO_SUFFIXES, is_clip

SOUND = """302 722 aa aa3 aax ac4 acm adp ads adts adx aea afc aif aifc aix al amr apc ape apl apm aptx aptxhd ast au
    aud avr bcstm bfstm binka bit bonk brstm c2 caf cdata cvg daud dfpwm dss dtk dts dtshd eac3 ec3 fap fsb fwse
    g722 g723_1 g728 g729 genh gsm hca iamf ircam isma laf latm lbc lc3 loas m2a m4b mac mca mlp mmf mpa mpc
    msbc msf mtaf musx nist nsp oma omg osq paf pcm pvf qoa ra rco rka rsd rso sb sbc sbg sdns sds sdx sf shn
    sln son sox spdif sph spx ss2 str svag svs sw tak tco thd tta tun ub ul uw vag voc vpk vqe vqf vql w64 wa
    way wsd wv xmd xvag"""
SUBTITLES = "aqt ass idx js jss lrc mcc mks mpl2 pjs rt sami scc smi srt ssa stl sub sup ttml txt vtt webvtt"
STILLS = """avif bmp dpx exr fits hdr heic heif ico im1 im24 im8 j2c j2k jls jp2 jpeg jpg jxl jxs ljpg mpo pam pbm pcx
    pfm pgm pgmyuv phm pix png ppm qoi ras rs sgi sun sunras tga tif tiff vbn wbmp xbm xface xwd y"""
TEXT = "adf ans art asc diz ffmeta ice idf m3u8 mpd nfo vt xml"
WITHOUT_A_HEADER = "bitpacked chk cif qcif rgb v210 yuv yuv10"
OTHER_FILES_TOO = "a64 avs cgi dat v"
"""Endings that are far more often a script, a program or any data."""


def libav_endings() -> set[str]:
    """Every ending that a demuxer, or the muxer of something a demuxer reads, lists for itself."""
    found = set()
    for name in av.formats_available:
        for mode in ("r", "w"):
            try:
                found |= ContainerFormat(name, mode).extensions
            except ValueError:  # it only reads, or only writes
                continue
    return {f".{ending.strip().lower()}" for ending in found}


def test_every_ending_of_libav_is_a_clip_or_has_a_reason_not_to_be() -> None:
    words = " ".join((SOUND, SUBTITLES, STILLS, TEXT, WITHOUT_A_HEADER, OTHER_FILES_TOO))
    reasons = {f".{ending}" for ending in words.split()} | AUDIO_SUFFIXES
    assert not (VIDEO_SUFFIXES & reasons) - {".ogg"}, "both at once"
    assert libav_endings() - VIDEO_SUFFIXES - reasons == set(), "libav reads a new ending: put it on one side"


def test_every_ending_that_an_instrument_knew_is_a_clip() -> None:
    clip = ".3gp .apng .avi .flv .gif .m2ts .m4v .mjpeg .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .webm .wmv .y4m"
    fvd = ".3g2 .asf .dv .f4v .h264 .hevc .ivf .m2v .mjpg .nut .obu .ogg .qt .rm .rmvb .vob .webp"
    assert {*clip.split(), *fvd.split()} <= VIDEO_SUFFIXES
    assert is_clip("A.QT") and is_clip(Path("x/take.mp4")) and not is_clip("take.wav") and not is_clip("mp4")
