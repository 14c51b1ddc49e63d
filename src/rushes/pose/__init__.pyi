"""Instrument 3: metric-locked PCK and MPJPE. A PCK without its normalisation cannot be made here."""

from rushes.pose.accuracy import PoseAccuracy as PoseAccuracy
from rushes.pose.accuracy import PoseFrame as PoseFrame
from rushes.pose.accuracy import accuracy_report as accuracy_report
from rushes.pose.batch import PoseBatch as PoseBatch
from rushes.pose.evaluate import PoseEvaluation as PoseEvaluation
from rushes.pose.evaluate import score_pose as score_pose
from rushes.pose.extract import extract_clips as extract_clips
from rushes.pose.folders import PoseSetEvaluation as PoseSetEvaluation
from rushes.pose.folders import score_poses as score_poses
from rushes.pose.instrument import NORMALIZATIONS as NORMALIZATIONS
from rushes.pose.joint_errors import mpjpe as mpjpe
from rushes.pose.normalization import AbsolutePixels as AbsolutePixels
from rushes.pose.normalization import BoundingBoxDiagonal as BoundingBoxDiagonal
from rushes.pose.normalization import HeadSize as HeadSize
from rushes.pose.normalization import PckNormalization as PckNormalization
from rushes.pose.normalization import TorsoDiameter as TorsoDiameter
from rushes.pose.normalization import TorsoOrBoundingBox as TorsoOrBoundingBox
from rushes.pose.pck import pck_at as pck_at
from rushes.pose.skeletons import SKELETONS as SKELETONS
from rushes.pose.skeletons import Skeleton as Skeleton
from rushes.pose.skeletons import named_skeleton as named_skeleton
