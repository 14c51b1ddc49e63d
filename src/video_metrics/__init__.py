"""The Video Metrics Module, as its document lays it out: FID-VID and FVD. Every name here is one of Rushes."""

from rushes.video_metrics import calculate_video_metrics as calculate_video_metrics
