"""The linear model of trained baselines: logistic regression on what sets two options apart, without an intercept."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

TOLERANCE = 1e-6
ITERATIONS = 1000
SOLVER = f"logistic regression without intercept, liblinear (primal), tol {TOLERANCE:g}, scikit-learn {{}}".format(
    sklearn.__version__
)


def preference(differences: Any, *, c: float) -> NDArray[np.float64]:
    """Return the weights under which a positive option scores above its foil.

    Equal to `LogisticRegression(C=c, fit_intercept=False)` on the rows (label 1) and their negations (label 0): a row
    and its negation have the same loss when there is no intercept. So each row is given once, with a sign that only
    serves to have both labels, and its loss counts twice.

    Args:
        differences: Positive minus foil, float64 [n, F], dense or sparse, n at least 1.
        c: Inverse strength of the L2 penalty.

    Returns:
        Weights, float64 [F].
    """
    rows = sparse.csr_array(differences)
    if rows.shape[0] == 1:
        rows, c = sparse.vstack([rows, rows]).tocsr(), c / 2
    signs = np.where(np.arange(rows.shape[0]) % 2 == 0, 1.0, -1.0)
    model = LogisticRegression(C=2 * c, fit_intercept=False, solver="liblinear", tol=TOLERANCE, max_iter=ITERATIONS)
    model.fit(sparse.csr_matrix(sparse.diags_array(signs) @ rows), signs > 0)
    weights: NDArray[np.float64] = model.coef_[0]
    return weights
