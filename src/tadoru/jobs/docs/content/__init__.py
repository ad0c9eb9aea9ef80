"""What of a page is the documentation: found by its generator or its shape, freed of menus and other furniture.

`find_main_content` is the door. `generators` knows the programs that make documentation sites, `score` finds the text where none is
recognised, `noise` and `words` say what is not text, `order` and `about` read where the page stands in its site, `variants`
says which addresses are other versions, other languages or doubles. No I/O; the tree of the page is changed in place.
"""

from tadoru.jobs.docs.content.main_content import MainContent, find_main_content
from tadoru.jobs.docs.content.navigation import NavItem

__all__ = ["MainContent", "NavItem", "find_main_content"]
