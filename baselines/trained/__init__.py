"""What baselines trained on the benchmark share: pairs of captions to learn from, and the linear model over them."""

from baselines.trained.linear import SOLVER, preference
from baselines.trained.pairs import Pair, documents, learnable
from baselines.trained.scores import scored

__all__ = ["SOLVER", "Pair", "documents", "learnable", "preference", "scored"]
