"""MediaPipe's face and body models on LiteRT, stateless."""

from rushes.vision.landmarks.face_pipeline import MAX_FACES, Face, FacePipeline

__all__ = ["MAX_FACES", "Face", "FacePipeline"]
