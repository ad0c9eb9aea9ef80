"""Documentation sites built by the real generators from sources of ours, and what those sources say.

`builders` builds them, `truth` reads the sources (never the pages), `odd` has the code that is easily
damaged, `written` reads the Markdown, `serving` serves a built site, also the one that a browser must fill.
"""
