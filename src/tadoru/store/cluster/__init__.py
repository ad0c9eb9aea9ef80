"""What the workers of a cluster share on PostgreSQL: crawls, workers, hosts that wait, and the task engine's tables."""
