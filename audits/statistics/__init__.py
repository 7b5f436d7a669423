"""Outcomes, chance, intervals: pure functions of arrays and a seeded generator."""
