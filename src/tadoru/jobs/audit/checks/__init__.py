"""Checks of a single page, one module for each group: the definitions and the function that runs them. See `catalogue`."""
