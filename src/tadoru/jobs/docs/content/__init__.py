"""Finds the main content of a documentation page and removes menus and other noise from it.

The entry point is `find_main_content`. `generators` knows the programs that make documentation sites, `score` finds the content
of other pages, `noise` and `phrases` recognise what is not content, `page_info` reads
the title of a page, `variants` recognises duplicate pages by their URLs. No I/O; the tree of the page is changed in place.
"""

from tadoru.jobs.docs.content.main_content import MainContent, NavItem, find_main_content

__all__ = ["MainContent", "NavItem", "find_main_content"]
