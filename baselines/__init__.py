"""Image-blind baselines, one module each, and the engine that every scorer uses. Knows nothing of statistics."""
