"""3D Inception model (I3D), for FVD."""

from rushes.instruments.distribution.networks.i3d import BACKBONE as BACKBONE
from rushes.instruments.distribution.networks.i3d import I3D as I3D
