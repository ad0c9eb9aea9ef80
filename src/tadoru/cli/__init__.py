"""The command line: the only room that knows click and rich, prints, and ends the process."""
