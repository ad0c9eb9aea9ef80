"""Finds the main content of a documentation page and removes menus and other noise from it.

The entry point is `find_main_content`. `generators` knows the programs that make documentation sites, `score` finds the content
of other pages, `noise`, `class_names` and `phrases` recognise what is not content, `navigation` and `page_info` read the menu and
the title of a page, `variants` recognises duplicate pages by their URLs. No I/O; the tree of the page is changed in place.
"""

from tadoru.jobs.docs.content.main_content import MainContent, find_main_content
from tadoru.jobs.docs.content.navigation import NavItem

__all__ = ["MainContent", "NavItem", "find_main_content"]
