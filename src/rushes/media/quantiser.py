"""How coarsely a frame was coded: the quantiser that its own stream says, on the scale of H.264.

libav hands it out beside each frame where the decoder is asked to (`export_side_data=venc_params`, `EXPORTED`), which
takes no time that could be measured. Only decoders of H.264 and of MPEG-1, -2 and -4 do so on a scale that is known.
"""

from __future__ import annotations

import math
import struct
from typing import cast

import numpy as np
from av.sidedata.sidedata import SideData
from av.video.frame import VideoFrame

EXPORTED = {"export_side_data": "venc_params"}
"""Options of a decoder, to be set before its first frame."""
_HEAD = struct.Struct("<I4xQQii")
"""The beginning of libav's AVVideoEncParams: blocks, where they begin, their size, the kind of scale, the frame's."""
_H264, _MPEG2 = 1, 2


def quantiser_of(frame: VideoFrame) -> float:
    """Mean over the blocks of a frame, 0 to 51; NaN where the stream or its decoder says nothing.

    Six more is twice the step between two coded values. MPEG-1, -2 and -4 code with a step q of their own, 1 to 31;
    that is taken as 12 + 6·log₂ q, which has about the same step.
    """
    found = cast(SideData | None, frame.side_data.get("VIDEO_ENC_PARAMS"))
    if found is None:
        return math.nan
    data = bytes(found)
    count, start, size, scale, base = _HEAD.unpack_from(data)
    if scale not in (_H264, _MPEG2):
        return math.nan
    blocks = np.frombuffer(data, "<i4", offset=start, count=count * size // 4).reshape(count, -1)[:, -1]
    mean = base + (float(blocks.mean()) if count else 0.0)
    return mean if scale == _H264 else 12 + 6 * math.log2(max(mean / 2, 1.0))
