"""Access to the service: users, their sessions, the keys of programs, and the log of who changed what.

It stands in the same database as the events (`store.calendar`), through the same connection. Secrets are kept as hashes only
(`secrets`); a method is one transaction, and what it changes is in the audit log with it.
"""
