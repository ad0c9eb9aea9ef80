"""The formats of the events database, one revision each. What applies them is `store.calendar.migrate`."""
