"""3D ResNet50 model, for FID-VID."""

from rushes.instruments.distribution.networks.r3d50 import BACKBONE as BACKBONE
from rushes.instruments.distribution.networks.r3d50 import ResNet3D50 as ResNet3D50
