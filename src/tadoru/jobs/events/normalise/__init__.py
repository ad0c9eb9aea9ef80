"""Turns raw events into drafts: `normaliser` for the whole event, `prices` and `locations` for these fields."""
