"""The page checks, one module for each group: what is looked for, and the function that looks. `catalogue` puts them together."""
