"""Instrument 4: which take do people prefer? Votes, their statistics, the study that gathers them, its numbers."""

from rushes.preference.evaluate import Study as Study
from rushes.preference.evaluate import evaluate_study as evaluate_study
from rushes.preference.evaluate import evaluate_validity as evaluate_validity
from rushes.preference.evaluate import open_study as open_study
from rushes.preference.exchange import FORMATS as FORMATS
from rushes.preference.exchange import read_ratings as read_ratings
from rushes.preference.statistics.power import votes_needed as votes_needed
from rushes.preference.statistics.ranking import rank as rank
from rushes.preference.statistics.tally import tally as tally
from rushes.preference.study import open_service as open_service
from rushes.preference.study_numbers import study_measurements as study_measurements
from rushes.preference.validity_numbers import validity_measurements as validity_measurements
from rushes.preference.votes import Vote as Vote
