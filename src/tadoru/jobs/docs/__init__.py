"""`tadoru docs`: a documentation site as Markdown."""
