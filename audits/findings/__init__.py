"""Properties of the data set that change what a score means: one module each, brought together by `collect`."""
