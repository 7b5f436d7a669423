"""Language models and tokenizers: find their files, load them, refuse what did not load whole. Shared by baselines."""
