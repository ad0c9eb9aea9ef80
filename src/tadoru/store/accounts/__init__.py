"""User accounts of the service: users, their sessions, API keys, and the audit log.

The tables are in the calendar database (`store.calendar`) and use its connection. Secrets are stored as hashes only (`secrets`).
A method is one transaction, and its changes are in the audit log with it.
"""
