"""Pages for operators: dashboard, accounts and keys, the cluster, and the API reference."""
