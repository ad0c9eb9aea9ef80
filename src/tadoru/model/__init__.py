"""Frozen values the whole product speaks in. No behaviour that needs I/O, no naive datetimes."""
