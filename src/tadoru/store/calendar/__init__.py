"""The events database: sources, what they say, the events made of it, and all that collecting must remember.

`schema` has the tables, `migrations` how a database gets them, `connect` its transactions. On these stand the rooms, one for each
thing that is done: the register (`sources`), whose turn it is (`schedule`, `host_slots`, `runs`), storing what a run found
(`apply` and its helpers, `weave`, `sweep`), people (`reviewing`, `merging`, `hand`), reading (`listing`, `story`, `health`), and
time and place (`retention`, `transfer`). `open` puts them together. Nothing here knows how events are judged: that is handed in
(`values.Judge`).
"""
