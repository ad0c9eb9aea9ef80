"""Options of every job: their types and defaults, their flags and keys, and where their values come from."""
