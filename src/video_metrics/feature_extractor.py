"""Model builder: weights found and read, and the extractor that turns segments into features."""

from rushes.instruments.distribution.features.extraction import make_extractor as make_extractor
from rushes.instruments.distribution.features.weights import Weights as Weights
from rushes.instruments.distribution.features.weights import find_weights as find_weights
from rushes.instruments.distribution.features.weights import read_weights as read_weights
