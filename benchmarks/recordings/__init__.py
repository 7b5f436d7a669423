"""Read what somebody else recorded, a score, a flag or an answer per row, without knowing yet what it is about."""
