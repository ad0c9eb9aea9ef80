"""The optional enricher: fills in missing categories and short summaries.

Three methods, each recorded next to the value it filled in (`extra`): a small text classifier (`category_model`, `training`), the
first sentences of the description (`enricher.extract_summary`), and an OpenAI-compatible endpoint (`llm`). Values of a source or
a person are never changed, and an event is collected whatever goes wrong here.
"""
