"""Formats for data frames and query languages: Parquet and SQLite, one row an entry, one column a number."""
