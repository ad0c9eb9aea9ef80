"""`tadoru events`: collect calendar events from many sources, normalise them, tell duplicates apart, keep them."""
