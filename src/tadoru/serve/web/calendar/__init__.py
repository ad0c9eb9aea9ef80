"""Pages of the event calendar: the public pages, and the form that edits an event."""
