"""How the Sphinx site is built; the theme comes from the command line."""

project = "Kettle"
author = "The kettle makers"
version = release = "2.1"
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.todo",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_inline_tabs",
]
todo_include_todos = True
autodoc_typehints = "signature"
numfig = True
html_last_updated_fmt = ""
