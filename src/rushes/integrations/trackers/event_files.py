"""TensorBoard's event files, written by its own package; torch is not needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.summary.writer.event_file_writer import EventFileWriter


class EventFiles:
    """The methods of torch's `SummaryWriter` that are used here, under the same names."""

    def __init__(self, folder: str) -> None:
        self.log_dir = folder
        self._files = EventFileWriter(folder)

    def add_scalar(self, tag: str, value: float, step: int | None) -> None:
        self._add(step, tag=tag, simple_value=value)

    def add_text(self, tag: str, text: str, step: int | None) -> None:
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
        tensor = TensorProto(dtype=DT_STRING, string_val=[text.encode()], tensor_shape=shape)
        plugin = SummaryMetadata.PluginData(plugin_name="text")
        self._add(step, tag=f"{tag}/text_summary", tensor=tensor, metadata=SummaryMetadata(plugin_data=plugin))

    def add_image(self, tag: str, pixels: NDArray[np.uint8], step: int | None, *, dataformats: str) -> None:
        import cv2

        height, width = pixels.shape[:2]
        _, png = cv2.imencode(".png", pixels[..., ::-1])
        image = Summary.Image(height=height, width=width, colorspace=3, encoded_image_string=png.tobytes())
        self._add(step, tag=tag, image=image)

    def _add(self, step: int | None, **value: Any) -> None:
        import time

        # TensorBoard sorts by the clock; it is no part of any result
        event = Event(wall_time=time.time(), step=step or 0, summary=Summary(value=[Summary.Value(**value)]))
        self._files.add_event(event)

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()
