"""Reading media: probe, frames, audio, canonical form. PyAV only."""

from rushes.core.media_facts import AudioFacts, MediaFacts, VideoFacts
from rushes.media.audio import AudioTrack, read_audio
from rushes.media.canon.clip import canonicalize
from rushes.media.encode import write_clip
from rushes.media.frames import ClipReader, Frame
from rushes.media.luma import LumaPlane
from rushes.media.probe import probe

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
