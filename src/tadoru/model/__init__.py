"""Frozen values that all packages share. No I/O, no naive datetimes."""
