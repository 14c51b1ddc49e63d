"""Instrument 4: which take do people prefer? Votes, their statistics, the study that gathers them, its numbers."""

from rushes.instruments.preference.numbers.study import study_measurements as study_measurements
from rushes.instruments.preference.numbers.validity import validity_measurements as validity_measurements
from rushes.instruments.preference.tallies import tally as tally
from rushes.instruments.preference.votes import Vote as Vote
from rushes.stats.power import votes_needed as votes_needed
from rushes.stats.votes.ranking import rank as rank
from rushes.study import open_service as open_service
from rushes.study.evaluate import Study as Study
from rushes.study.evaluate import evaluate_study as evaluate_study
from rushes.study.evaluate import evaluate_validity as evaluate_validity
from rushes.study.evaluate import open_study as open_study
from rushes.study.exchange import FORMATS as FORMATS
from rushes.study.exchange import read_ratings as read_ratings
