"""Turn any release, table or generator into `Instance`s. Knows nothing of scorers, statistics or reports."""
