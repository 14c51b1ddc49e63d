"""Instrument 3: metric-locked PCK and MPJPE. A PCK without its normalisation cannot be made here."""

from rushes.instruments.pose.evaluate import PoseEvaluation as PoseEvaluation
from rushes.instruments.pose.evaluate import PoseSetEvaluation as PoseSetEvaluation
from rushes.instruments.pose.evaluate import score_pose as score_pose
from rushes.instruments.pose.evaluate import score_poses as score_poses
from rushes.instruments.pose.files.batch import PoseBatch as PoseBatch
from rushes.instruments.pose.files.extract import extract_clips as extract_clips
from rushes.instruments.pose.files.skeletons import SKELETONS as SKELETONS
from rushes.instruments.pose.files.skeletons import Skeleton as Skeleton
from rushes.instruments.pose.files.skeletons import named_skeleton as named_skeleton
from rushes.instruments.pose.instrument import NORMALIZATIONS as NORMALIZATIONS
from rushes.instruments.pose.scores.joint_errors import mpjpe as mpjpe
from rushes.instruments.pose.scores.joint_errors import mpjpe as pck_mpjpe
from rushes.instruments.pose.scores.normalization import AbsolutePixels as AbsolutePixels
from rushes.instruments.pose.scores.normalization import BoundingBoxDiagonal as BoundingBoxDiagonal
from rushes.instruments.pose.scores.normalization import HeadSize as HeadSize
from rushes.instruments.pose.scores.normalization import PckNormalization as PckNormalization
from rushes.instruments.pose.scores.normalization import TorsoDiameter as TorsoDiameter
from rushes.instruments.pose.scores.normalization import TorsoOrBoundingBox as TorsoOrBoundingBox
from rushes.instruments.pose.scores.pck import pck_at as pck_at
from rushes.instruments.pose.seed.accuracy import PoseAccuracy as PoseAccuracy
from rushes.instruments.pose.seed.accuracy import PoseFrame as PoseFrame
from rushes.instruments.pose.seed.accuracy import accuracy_report as accuracy_report
