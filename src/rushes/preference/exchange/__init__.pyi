"""Votes in and out: the ratings CSV, a full table (CSV, Parquet), and the formats other tools read."""

from rushes.preference.exchange.arena import write_arena as write_arena
from rushes.preference.exchange.dpo import write_dpo as write_dpo
from rushes.preference.exchange.formats import FORMATS as FORMATS
from rushes.preference.exchange.formats import ExportFormat as ExportFormat
from rushes.preference.exchange.formats import StudyVotes as StudyVotes
from rushes.preference.exchange.formats import export_study as export_study
from rushes.preference.exchange.pwcmp import write_pwcmp as write_pwcmp
from rushes.preference.exchange.ratings_csv import RatingsFile as RatingsFile
from rushes.preference.exchange.ratings_csv import read_ratings as read_ratings
from rushes.preference.exchange.ratings_csv import write_ratings as write_ratings
from rushes.preference.exchange.table import read_table as read_table
from rushes.preference.exchange.table import write_csv as write_csv
from rushes.preference.exchange.table import write_parquet as write_parquet
