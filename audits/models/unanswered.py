"""What became of the questions that a model was asked, where not all of them have a readable answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from audits.models.answers import STATES, Pick, State
from audits.statistics.outcomes import Outcome
from reports.schema import Finding

SHOWN = 20
_WORDS = {"group": "Group"}  # as tables write it


def states(picks: Iterable[Pick], shown: Sequence[State] = STATES) -> dict[str, int]:
    """Return the number of questions by what became of them; empty if nothing was asked.

    >>> states([Pick(True, True, "answered"), Pick(None, None, "empty")], ("answered", "unparsed"))
    {'answered': 1, 'unparsed': 0, 'empty': 1}
    """
    counts: Counter[State] = Counter(one.state for one in picks)
    return {state: counts[state] for state in STATES if counts and (counts[state] or state in shown)}


def unanswered(
    kind: str,
    name: str,
    counts: Mapping[str, int],
    outcomes: Mapping[str, Outcome],
    lost: Sequence[str],
    *,
    metric: str = "accuracy",
) -> list[Finding]:
    """Return what is to be said of questions without a readable answer, with the bounds of a metric.

    Args:
        kind: Of the finding.
        name: The contestant.
        counts: Questions by state.
        outcomes: By metric; the bounds of `metric` are among them.
        lost: Ids of the instances with such a question.
        metric: Which one to speak of.
    """
    asked = sum(counts.values())
    if asked == counts.get("answered", 0):
        return []
    wrong, right = (_mean(outcomes.get(f"{metric}_if_{end}")) for end in ("wrong", "right"))
    told = ", ".join(f"{counts[state]:,} {state}" for state in STATES[1:] if counts.get(state))
    return [
        Finding(
            kind,
            "notice",
            f"{name}: {counts.get('answered', 0):,} of {asked:,} questions have a readable answer ({told}); "
            f"{_WORDS.get(metric, metric.replace('_', ' '))} over everything asked lies between {100 * wrong:.1f} % if "
            f"the others were wrong and {100 * right:.1f} % if they were right.",
            instances=tuple(lost[:SHOWN]),
            values={
                **{state: counts.get(state, 0) for state in counts},
                "asked": asked,
                "coverage": counts.get("answered", 0) / asked,
                f"{metric}_if_wrong": wrong,
                f"{metric}_if_right": right,
            },
        )
    ]


def _mean(outcome: Outcome | None) -> float:
    return float(np.nanmean(outcome.credit)) if outcome is not None else float("nan")
