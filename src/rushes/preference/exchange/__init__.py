"""Votes in and out: the ratings CSV, a full table (CSV, Parquet), and the formats other tools read."""

from rushes.preference.exchange.arena import write_arena
from rushes.preference.exchange.dpo import write_dpo
from rushes.preference.exchange.formats import FORMATS, ExportFormat, StudyVotes, export_study
from rushes.preference.exchange.pwcmp import write_pwcmp
from rushes.preference.exchange.ratings_csv import RatingsFile, read_ratings, write_ratings
from rushes.preference.exchange.table import read_table, write_csv, write_parquet

__all__ = [
    "FORMATS",
    "ExportFormat",
    "RatingsFile",
    "StudyVotes",
    "export_study",
    "read_ratings",
    "read_table",
    "write_arena",
    "write_csv",
    "write_dpo",
    "write_parquet",
    "write_pwcmp",
    "write_ratings",
]
