"""The forms in which a calendar is given out: `documents` (JSON), `rows_csv` (CSV) and `calendar_ics` (ICS).

Each takes the events of `store.calendar.event_records` one after the other and gives text, so that a calendar of any size passes through.
The command line writes it to a file, the service to a connection.
"""
