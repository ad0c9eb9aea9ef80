"""Languages: translation of messages by gettext catalogues, and formats of dates, numbers and lists by Babel."""
