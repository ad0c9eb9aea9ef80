"""Collects events from sources: fetch, parse, normalise, store."""
