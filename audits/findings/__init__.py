"""Properties of the data set that change what a score means: one module each, a function from instances to findings."""
