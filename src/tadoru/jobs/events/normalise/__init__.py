"""Turns what a source wrote into drafts of events."""
