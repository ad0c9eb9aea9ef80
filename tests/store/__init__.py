"""What is particular to the SQLite store: processes, files, faults, names to query. The contract is in `tests/contract`."""
