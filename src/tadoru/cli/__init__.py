"""The command line: the only package that imports click and rich, prints, and ends the process."""
