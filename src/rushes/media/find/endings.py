"""Which files are clips, by their ending. `tests/media/test_endings.py` holds the list against libav's own."""

from __future__ import annotations

from pathlib import PurePath

from rushes.storage.remote.address import RemoteFile

VIDEO_SUFFIXES = frozenset(
    ".264 .265 .266 .3g2 .3gp .3gp2 .3gpp .amv .apng .apv .asf .av1 .avc .avi .avs2 .avs3 .bik .bmv .cavs .cdg .cdxl "
    ".cine .cpk .dav .dif .divx .dnxhd .dnxhr .drc .dv .dvd .dvr-ms .evc .evo .f4v .flc .fli .flm .flv .gif .gxf .h261 "
    ".h263 .h264 .h265 .h266 .h26l .hevc .ifv .imx .ipu .ism .ismv .ivf .ivr .kux .lvf .lxf .m1v .m2p .m2t .m2ts .m2v "
    ".m4v .mj2 .mjpeg .mjpg .mk3d .mkv .mlv .mods .moflex .mov .mp4 .mpe .mpeg .mpg .mpv .mts .mvi .mxf .mxg .nsv .nut "
    ".nuv .obu .ogg .ogv .ogx .pdv .psp .pva .qt .r3d .rcv .rm .rmvb .roq .rpl .sdr2 .ser .sga .smk .swf .thp .tod "
    ".trp .ts .ty .ty+ .usm .vb .vc1 .vc2 .viv .vmd .vob .vro .vvc .webm .webp .wmv .wtv .xl .xmv .y4m .yop".split()
)
"""What a folder is searched for; a file named by itself is always taken.

Every ending that libav reads moving pictures under, less those that say nothing of it: stills (`.heic`), frames without
a header (`.yuv`), playlists, and names that other files have (`.dat`, `.avs`)."""
TEXT_SUFFIXES = frozenset(".csv .html .json .jsonl .md .toml .tsv .xlsx .yaml .yml".split())
"""Files that are never clips, even if they are named by themselves: whoever names one meant something else."""
AUDIO_SUFFIXES = frozenset(".aac .ac3 .aiff .flac .m4a .mka .mp2 .mp3 .oga .ogg .opus .wav .wma".split())


def is_clip(path: PurePath | RemoteFile | str) -> bool:
    """Whether a file is called as a video is.

    >>> is_clip("takes/A.MP4"), is_clip("notes.txt")
    (True, False)
    """
    return (PurePath(path) if isinstance(path, str) else path).suffix.lower() in VIDEO_SUFFIXES
