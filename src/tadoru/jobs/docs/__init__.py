"""`tadoru docs`: crawls a documentation site and writes it as Markdown.

`job` reads pages (`page`, `content`, `markdown`), `run` prepares crawls and writes the files (`bundle`), `search`, `library` and
`mcp` read the written sites, `api` is the Python API.
"""
