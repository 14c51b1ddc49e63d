"""Runs in shards: a part of the clips per Parquet file, written by several writers, read in parts."""
