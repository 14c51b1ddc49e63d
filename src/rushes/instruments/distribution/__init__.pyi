"""Instrument 2: FVD, FID-VID and KVD, does this set look like the real one?"""

from rushes.instruments.distribution.compare import SetComparison as SetComparison
from rushes.instruments.distribution.evaluate import compare_sets as compare_sets
from rushes.instruments.distribution.features.backbones import BACKBONES as BACKBONES
from rushes.instruments.distribution.features.backbones import Backbone as Backbone
from rushes.instruments.distribution.features.files import compare_features as compare_features
from rushes.instruments.distribution.features.map import SetMap as SetMap
from rushes.instruments.distribution.features.map import set_map as set_map
from rushes.instruments.distribution.in_memory import FVD as FVD
from rushes.instruments.distribution.seed.video_metrics import calculate_video_metrics as calculate_video_metrics
