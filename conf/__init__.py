"""The configuration: one top file per verb, one folder per group. Holds no code."""
