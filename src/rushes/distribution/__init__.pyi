"""Instrument 2: FVD, FID-VID and KVD, does this set look like the real one?"""

from rushes.distribution.backbones import BACKBONES as BACKBONES
from rushes.distribution.backbones import Backbone as Backbone
from rushes.distribution.compare import SetComparison as SetComparison
from rushes.distribution.evaluate import compare_sets as compare_sets
from rushes.distribution.feature_files import compare_features as compare_features
from rushes.distribution.feature_map import SetMap as SetMap
from rushes.distribution.feature_map import set_map as set_map
from rushes.distribution.in_memory import FVD as FVD
from rushes.distribution.video_metrics import calculate_video_metrics as calculate_video_metrics
