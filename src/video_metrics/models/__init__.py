"""The two networks: `inception3d` (FVD) and `resnet3d` (FID-VID)."""

from rushes.instruments.distribution.networks.i3d import I3D as I3D
from rushes.instruments.distribution.networks.r3d50 import ResNet3D50 as ResNet3D50
