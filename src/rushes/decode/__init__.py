"""Reading media: probe, frames, audio, canonical form. PyAV only."""

from rushes.decode.audio import AudioTrack, read_audio
from rushes.decode.canon import canonicalize
from rushes.decode.encode import write_clip
from rushes.decode.frames import ClipReader, Frame
from rushes.decode.luma import LumaPlane
from rushes.decode.probe import AudioFacts, MediaFacts, VideoFacts, probe

__all__ = [
    "AudioFacts",
    "AudioTrack",
    "ClipReader",
    "Frame",
    "LumaPlane",
    "MediaFacts",
    "VideoFacts",
    "canonicalize",
    "probe",
    "read_audio",
    "write_clip",
]
