"""The tests. A package, so that `tests.support` is found here and nowhere else."""
