"""Rushes: the evaluation workbench for generated video. No number without its definition."""

from types import ModuleType

from rushes import study as study
from rushes import suite as suite
from rushes.compare.agreement.credential import Credential as Credential
from rushes.compare.agreement.credential import read_credential as read_credential
from rushes.compare.agreement.credential import shipped_credentials as shipped_credentials
from rushes.compare.agreement.earned_say import EarnedSay as EarnedSay
from rushes.compare.agreement.earned_say import earned_say as earned_say
from rushes.compare.agreement.metric_agreement import MetricAgreement as MetricAgreement
from rushes.compare.agreement.metric_agreement import believe as believe
from rushes.compare.agreement.saving import credential_of as credential_of
from rushes.compare.board.board import Board as Board
from rushes.compare.board.board import board as board
from rushes.compare.board.board import write_board as write_board
from rushes.compare.board.judging import judge_board as judge_board
from rushes.compare.board.model import BoardData as BoardData
from rushes.compare.board.model import ReadingVerdict as ReadingVerdict
from rushes.compare.failures.cases import FailureCases as FailureCases
from rushes.compare.failures.cases import failures as failures
from rushes.compare.figures.draw import figure as figure
from rushes.compare.figures.figure import PaperFigure as PaperFigure
from rushes.compare.gate.answer import GateReport as GateReport
from rushes.compare.gate.gate import check_regression as check_regression
from rushes.compare.gate.gate import gate as gate
from rushes.compare.paper.folder import Paper as Paper
from rushes.compare.paper.paper import measure_paper as measure_paper
from rushes.compare.paper.paper import paper as paper
from rushes.compare.paper.table import PaperTable as PaperTable
from rushes.compare.paper.table import paper_table as paper_table
from rushes.compare.paper.table import table as table
from rushes.compare.ranking.rank import rank as rank
from rushes.compare.ranking.rank import rank_votes as rank_votes
from rushes.compare.ranking.result import RankedVotes as RankedVotes
from rushes.compare.ranking.result import VoteRanking as VoteRanking
from rushes.compare.readings.collect import collect_board as collect_board
from rushes.compare.report import Report as Report
from rushes.compare.report import report as report
from rushes.compare.report import write_report as write_report
from rushes.compare.runs.many import RunsComparison as RunsComparison
from rushes.compare.runs.many import compare_runs as compare_runs
from rushes.compare.runs.page.page import ComparisonPage as ComparisonPage
from rushes.compare.runs.page.page import write_comparison as write_comparison
from rushes.compare.runs.results import RunComparison as RunComparison
from rushes.compare.runs.tables import comparison_table as comparison_table
from rushes.compare.runs.together import compare as _compare
from rushes.compare.supplement import Supplement as Supplement
from rushes.compare.supplement import write_supplement as write_supplement
from rushes.core import Definition as Definition
from rushes.core import Interval as Interval
from rushes.core import Measurement as Measurement
from rushes.core.answer import Answer as Answer
from rushes.core.errors import DefinitionError as DefinitionError
from rushes.core.errors import DefinitionMismatch as DefinitionMismatch
from rushes.core.errors import InputError as InputError
from rushes.core.errors import MediaError as MediaError
from rushes.core.errors import MissingDependency as MissingDependency
from rushes.core.errors import RunError as RunError
from rushes.core.errors import RushesError as RushesError
from rushes.core.errors import WeightsError as WeightsError
from rushes.core.errors import WeightsNotFound as WeightsNotFound
from rushes.core.instrument import Instrument as Instrument
from rushes.core.machine.progress import Progress as Progress
from rushes.core.table import Table as Table
from rushes.instruments import clip as clip
from rushes.instruments import distribution as distribution
from rushes.instruments import preference as preference
from rushes.instruments import robustness as robustness
from rushes.instruments.clip.bundle import MetricBundle as MetricBundle
from rushes.instruments.clip.bundle import read_bundle as read_bundle
from rushes.instruments.clip.evaluate import clips as clips
from rushes.instruments.clip.evaluate import evaluate_clip as evaluate_clip
from rushes.instruments.clip.evaluate import evaluate_clips as evaluate_clips
from rushes.instruments.clip.measure import ClipResult as ClipResult
from rushes.instruments.clip.signals.profile import Profile as Profile
from rushes.instruments.distribution.compare import SetComparison as SetComparison
from rushes.instruments.distribution.evaluate import compare_sets as compare_sets
from rushes.instruments.distribution.evaluate import fvd as fvd
from rushes.instruments.distribution.features.files import compare_features as compare_features
from rushes.instruments.distribution.in_memory import FVD as FVD
from rushes.instruments.distribution.seed.video_metrics import calculate_video_metrics as calculate_video_metrics
from rushes.instruments.explained import Metrics as Metrics
from rushes.instruments.explained import metrics as metrics
from rushes.instruments.fidelity.evaluate import FidelityEvaluation as FidelityEvaluation
from rushes.instruments.fidelity.evaluate import evaluate_fidelity as _fidelity
from rushes.instruments.fidelity.evaluate import evaluate_fidelity as evaluate_fidelity
from rushes.instruments.judge.evaluate import Judged as Judged
from rushes.instruments.judge.evaluate import judge_clips as judge_clips
from rushes.instruments.pose.evaluate import PoseEvaluation as PoseEvaluation
from rushes.instruments.pose.evaluate import PoseSetEvaluation as PoseSetEvaluation
from rushes.instruments.pose.evaluate import pose as _pose
from rushes.instruments.pose.evaluate import score_pose as score_pose
from rushes.instruments.pose.evaluate import score_poses as score_poses
from rushes.instruments.pose.files.extract import extract_clips as extract_clips
from rushes.instruments.pose.scores.joint_errors import mpjpe as pck_mpjpe
from rushes.instruments.pose.scores.normalization import PckNormalization as PckNormalization
from rushes.instruments.pose.scores.pck import pck_at as pck_at
from rushes.instruments.pose.seed.accuracy import PoseAccuracy as PoseAccuracy
from rushes.instruments.pose.seed.accuracy import PoseFrame as PoseFrame
from rushes.instruments.pose.seed.accuracy import accuracy_report as accuracy_report
from rushes.instruments.robustness.evaluate import measure_robustness as measure_robustness
from rushes.instruments.robustness.evaluate import robust as robust
from rushes.instruments.robustness.measure import SweepReport as SweepReport
from rushes.instruments.robustness.seed.metrics import MetricComputationError as MetricComputationError
from rushes.instruments.robustness.sweep.evaluate import SweepOutcome as SweepOutcome
from rushes.instruments.robustness.sweep.evaluate import sweep as sweep
from rushes.instruments.robustness.sweep.evaluate import sweep_clips as sweep_clips
from rushes.integrations import loop as loop
from rushes.integrations import trackers as trackers
from rushes.integrations.loop.clips import Clip as Clip
from rushes.integrations.loop.pairs import Fidelity as Fidelity
from rushes.integrations.loop.poses import Pose as Pose
from rushes.integrations.loop.torchmetric import as_torchmetric as as_torchmetric
from rushes.media import MediaFacts as MediaFacts
from rushes.media import canonicalize as canonicalize
from rushes.media import probe as probe
from rushes.stats.prediction_powered import Powered as Powered
from rushes.stats.prediction_powered import powered_difference as powered_difference
from rushes.stats.prediction_powered import powered_mean as powered_mean
from rushes.stats.votes.connection import RankingError as RankingError
from rushes.storage.query.sql import query as query
from rushes.storage.remote.errors import RemoteError as RemoteError
from rushes.storage.remote.errors import Unreachable as Unreachable
from rushes.storage.remote.errors import Vanished as Vanished
from rushes.storage.runs import Run as Run
from rushes.storage.runs import Subject as Subject
from rushes.storage.runs import read_run as read_run
from rushes.storage.runs.export import export as export
from rushes.storage.runs.export import export_run as export_run
from rushes.study import StudyService as StudyService
from rushes.study import open_service as open_service
from rushes.study.errors import NotAllowed as NotAllowed
from rushes.study.errors import StudyError as StudyError
from rushes.study.evaluate import evaluate_study as evaluate_study
from rushes.study.evaluate import evaluate_validity as evaluate_validity
from rushes.suite.draft import SuiteDraft as SuiteDraft
from rushes.suite.draft import draft_suite as draft_suite
from rushes.suite.file import Suite as Suite
from rushes.suite.file import read_suite as read_suite
from rushes.suite.folder import SuiteRun as SuiteRun
from rushes.suite.folder import run_suite as run_suite
from rushes.suite.imports.scores import import_table as import_table
from rushes.suite.imports.vbench_results import import_vbench as import_vbench
from rushes.suite.judging import judge as judge
from rushes.web.viewing import View as View
from rushes.web.viewing import view as view
from rushes.workers.engine import Engine as Engine

__version__: str

class _Compare(ModuleType):
    __call__ = staticmethod(_compare)

class _Fidelity(ModuleType):
    __call__ = staticmethod(_fidelity)

class _Pose(ModuleType):
    __call__ = staticmethod(_pose)

compare: _Compare
fidelity: _Fidelity
pose: _Pose
