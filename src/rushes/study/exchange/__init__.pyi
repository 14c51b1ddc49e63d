"""Votes in and out: the ratings CSV, a full table (CSV, Parquet), and the formats other tools read."""

from rushes.study.exchange.arena import write_arena as write_arena
from rushes.study.exchange.formats import FORMATS as FORMATS
from rushes.study.exchange.formats import ExportFormat as ExportFormat
from rushes.study.exchange.formats import StudyVotes as StudyVotes
from rushes.study.exchange.formats import export_study as export_study
from rushes.study.exchange.pwcmp import write_pwcmp as write_pwcmp
from rushes.study.exchange.ratings_csv import RatingsFile as RatingsFile
from rushes.study.exchange.ratings_csv import read_ratings as read_ratings
from rushes.study.exchange.ratings_csv import write_ratings as write_ratings
from rushes.study.exchange.table import read_table as read_table
from rushes.study.exchange.table import write_csv as write_csv
from rushes.study.exchange.table import write_parquet as write_parquet
