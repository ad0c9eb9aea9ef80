"""The optional enricher of events, off unless it is asked for: a category where a source gives none, and a short summary.

Three ways to fill in, each recorded beside what it filled in (`extra`): a small model of letters (`features`, `train`, `model`),
the first sentences of the description (`summary`), and an endpoint that speaks OpenAI's language (`prompt`, `endpoint`). What a
source or a person said is never touched, and whatever goes wrong here, the event is collected all the same (`enricher`).
"""
