"""The engine that every scorer measures through: plan batches, look up the cache, compute, commit, resume.

`Engine` is the `Work` of the contract in `baselines.schema`; the other names are what the runner needs to build one.
"""

from baselines.engine.cache import ScoreCache
from baselines.engine.folder import cache_folder
from baselines.engine.measure import Counts, Engine

__all__ = ["Counts", "Engine", "ScoreCache", "cache_folder"]
