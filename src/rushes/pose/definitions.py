"""Every definition of this instrument, in the order the catalogue shows them."""

from rushes.core import Definition
from rushes.pose.errors3d import N_MPJPE, PA_MPJPE, PCK_3D, PCK_3D_AUC
from rushes.pose.joint_errors import FOUND_RATIO, MPJPE, MPJPE_FOUND
from rushes.pose.motion import ACCELERATION_ERROR, VELOCITY_ERROR
from rushes.pose.oks import OKS
from rushes.pose.pck import PCK, PCK_AUC, PCK_JOINT, PCKH

DEFINITIONS: tuple[Definition, ...] = (
    PCK,
    PCKH,
    PCK_AUC,
    PCK_JOINT,
    MPJPE,
    MPJPE_FOUND,
    FOUND_RATIO,
    OKS,
    PA_MPJPE,
    N_MPJPE,
    PCK_3D,
    PCK_3D_AUC,
    VELOCITY_ERROR,
    ACCELERATION_ERROR,
)
