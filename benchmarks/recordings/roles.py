"""Find out what a recorded file holds, and in which columns: scores, similarities of a 2x2, flags or answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from benchmarks import columns as tables
from benchmarks.errors import InputError, near

Layout = Literal["captions", "pairs", "flags", "answers"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
CELLS = ("c0_i0", "c1_i0", "c0_i1", "c1_i1")  # in the order [image, caption]

# Common names by role, the likeliest first; compared in lower case, with "_" for blanks, hyphens and dots.
VALUES: Mapping[str, tuple[str, ...]] = {
    "positive": (
        "positive_score", "pos_score", "score_pos", "score_positive", "sim_pos", "sim_positive", "positive_sim",
        "pos_sim", "positive_scores", "pos_scores", "true_score", "score_true", "caption_score", "score_caption",
        "sim_caption", "correct_score", "positive_similarity", "sim_base", "base_score", "score_base",
    ),
    "negative": (
        "negative_score", "neg_score", "score_neg", "score_negative", "sim_neg", "sim_negative", "negative_sim",
        "neg_sim", "negative_scores", "neg_scores", "false_score", "score_false", "foil_score", "score_foil",
        "foil_scores", "sim_foil", "wrong_score", "negative_similarity",
    ),
    "scores": ("scores", "similarities", "sims", "option_scores"),
    "answer": (
        "answer_multiple_choice_answer", "multiple_choice_answer", "answer", "response", "model_answer",
        "model_response", "prediction", "predicted", "choice", "reply", "output", "letter",
    ),
    "correct": ("correct", "is_correct", "correctness", "hit", "right"),
    "i2t": ("i2t_score", "i2t", "text_score", "text_correctness", "text_correct"),
    "t2i": ("t2i_score", "t2i", "image_score", "image_correctness", "image_correct"),
    "group": ("group_score", "group", "group_correctness", "group_correct"),
    "i2t_base": ("i2t_base", "text_score_i0", "ipos_2t"),
    "i2t_foil": ("i2t_foil", "text_score_i1", "ineg_2t"),
    "t2i_base": ("t2i_base", "image_score_c0", "tpos_2i"),
    "t2i_foil": ("t2i_foil", "image_score_c1", "tneg_2i"),
}  # fmt: skip
FLAGS = ("correct", "i2t", "t2i", "group", "i2t_base", "i2t_foil", "t2i_base", "t2i_foil")
# Names of the four similarities in the order of CELLS. `sim_01` is image 0 with caption 1, as in CompoSET's tool.
STYLES = (
    ("c0_i0", "c1_i0", "c0_i1", "c1_i1"),
    ("i0_c0", "i0_c1", "i1_c0", "i1_c1"),
    ("c0i0", "c1i0", "c0i1", "c1i1"),
    ("i0c0", "i0c1", "i1c0", "i1c1"),
    ("score_c0_i0", "score_c1_i0", "score_c0_i1", "score_c1_i1"),
    ("sim_c0_i0", "sim_c1_i0", "sim_c0_i1", "sim_c1_i1"),
    ("sim_00", "sim_01", "sim_10", "sim_11"),
    ("sim_aa", "sim_ab", "sim_ba", "sim_bb"),
    ("sim_base_cb", "sim_base_cv", "sim_var_cb", "sim_var_cv"),
)
IDENTITY: Mapping[str, tuple[str, ...]] = {
    "id": (*tables.NAMES["id"], "variation_id", "pair_id", "question_id", "index", "idx"),
    "tier": ("tier",),
    "subset": ("subset", "edit_type", "category", "type", "split", "benchmark_name"),
    "subtype": ("subtype",),
    "image": tables.NAMES["image"],
    "caption": (*tables.NAMES["caption"], "cap_base", "caption_0", "caption0", "caption_1"),
    "foil": (*tables.NAMES["foil"], "cap_var", "caption_1", "caption1", "caption_2"),
    "cluster": tables.NAMES["cluster"],
    "order": ("order", "option_order", "positive_first"),
    "label": ("label", "gold", "gold_answer", "answer_key", "correct_answer", "correct_option", "ground_truth"),
    "error": ("error", "failed", "failure"),
}
NUMBERED = ("positive", "negative", "caption", "foil")
Chosen = Mapping[str, str | Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Roles:
    """Hold which columns play which role, and what is read from them.

    Attributes:
        layout: `captions` a score per caption (or per image), `pairs` four similarities of a 2x2, `flags` right or
            wrong, `answers` what a prompted model said.
        by_role: Columns by role.
        guessed: Whether the layout or any column was guessed.
    """

    layout: Layout
    by_role: Mapping[str, tuple[str, ...]]
    guessed: bool

    def one(self, role: str) -> str:
        """Return the only column of a role, or an empty string."""
        return self.by_role.get(role, ("",))[0]

    @property
    def square(self) -> bool:
        """Whether what is recorded belongs to 2x2 instances."""
        return self.layout == "pairs" or (self.layout == "flags" and any(role in self.by_role for role in FLAGS[1:]))

    def told(self) -> str:
        """Return the assignment in words."""
        return ", ".join(f"{role} = {' + '.join(names)}" for role, names in self.by_role.items())


def plain(name: str) -> str:
    """Return a column's name as it is compared.

    >>> plain("Positive-Score"), plain("answer.multiple_choice_answer")
    ('positive_score', 'answer_multiple_choice_answer')
    """
    return re.sub(r"[\s\-./]+", "_", name.strip().lower())


def holds_values(header: Sequence[str], chosen: Chosen) -> bool:
    """Return whether any of these columns holds something recorded."""
    return bool(_values(header, _named(chosen, header, where="", strict=False)))


def assign(header: Sequence[str], chosen: Chosen, *, layout: str, where: str) -> Roles:
    """Assign columns to roles: as chosen, else by common names; guess the layout if it is `auto`.

    Args:
        header: All columns.
        chosen: Column, or list of columns, by role; a missing role is guessed, null leaves it empty.
        layout: One of `LAYOUTS`, or `auto`.
        where: The file, for messages.

    Raises:
        InputError: If a chosen role or column does not exist, nothing recorded is found, or it is ambiguous.
    """
    _check_layout(layout, where)
    given = _named(chosen, header, where=where, strict=True)
    values = _values(header, given)
    found = {**_identity(header, given, values), **values}
    found = {role: names for role, names in found.items() if names}
    picked = _layout(layout, found, header, where)
    unknown = "auto" in layout or any(role not in given for role in found)
    return Roles(picked, found, unknown)


def _check_layout(layout: str, where: str) -> None:
    if layout != "auto" and layout not in LAYOUTS:
        step = near(str(layout), LAYOUTS)
        expected = f"auto, {', '.join(LAYOUTS)}"
        raise InputError(
            "no such layout of a recorded file", where=where, got=str(layout), expected=expected, step=step
        )


def _named(chosen: Chosen, header: Sequence[str], *, where: str, strict: bool) -> dict[str, tuple[str, ...]]:
    """Return the columns that were chosen, checked."""
    known = (*IDENTITY, *VALUES, *CELLS)
    named: dict[str, tuple[str, ...]] = {}
    for role, choice in chosen.items():
        names = () if choice is None else (choice,) if isinstance(choice, str) else tuple(map(str, choice))
        if strict and role not in known:
            step = near(str(role), known)
            raise InputError(
                "no such role of a column", where=where, got=str(role), expected=", ".join(known), step=step
            )
        lost = [name for name in names if name not in header]
        if strict and lost:
            raise InputError(
                f"the column for {role} is not there",
                where=where,
                got=lost[0],
                expected=f"one of {', '.join(header)}"[:300],
                step=near(lost[0], header),
            )
        named[role] = tuple(name for name in names if name in header)
    return named


def _values(header: Sequence[str], given: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the columns that hold what was recorded."""
    found = {role: names for role, names in given.items() if role in VALUES or role in CELLS}
    free = [name for name in header if name not in {used for names in given.values() for used in names}]
    found |= {role: names for role in VALUES if role not in given and (names := _guess(role, VALUES[role], free))}
    if not any(cell in given for cell in CELLS):
        by_name = {plain(name): name for name in free}
        style = next((style for style in STYLES if all(name in by_name for name in style)), ())
        found |= {cell: (by_name[name],) for cell, name in zip(CELLS, style, strict=False)}
    return {role: names for role, names in found.items() if names}


def _identity(
    header: Sequence[str], given: Mapping[str, tuple[str, ...]], values: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return the columns that say what a row is about."""
    found = {role: names for role, names in given.items() if role in IDENTITY}
    used = {name for names in (*given.values(), *values.values()) for name in names}
    for role, names in IDENTITY.items():
        if role not in found:
            found[role] = _guess(role, names, [name for name in header if name and name not in used])
            used |= set(found[role])
    return found


def _guess(role: str, names: Iterable[str], free: Sequence[str]) -> tuple[str, ...]:
    """Return the column with the likeliest name, or several that are numbered."""
    by_name = {plain(name): name for name in free}
    for name in names:
        pattern = re.compile(rf"{re.escape(name)}_?(\d{{1,4}})")
        hits = [(int(hit[1]), free_name) for key, free_name in by_name.items() if (hit := pattern.fullmatch(key))]
        numbered = tuple(free_name for _, free_name in sorted(hits)) if role in NUMBERED else ()
        if name in by_name or numbered:
            return (*((by_name[name],) if name in by_name else ()), *numbered)
    return ()


def _layout(layout: str, found: Mapping[str, tuple[str, ...]], header: Sequence[str], where: str) -> Layout:
    """Return what is read: similarities before answers before flags, since each tells more than the next."""
    there: dict[Layout, bool] = {
        "pairs": all(cell in found for cell in CELLS),
        "captions": ("positive" in found and "negative" in found) or "scores" in found,
        "answers": "answer" in found,
        "flags": any(role in found for role in FLAGS),
    }
    if layout != "auto":
        for name, present in there.items():
            if name == layout and present:
                return name
        raise _nothing(f"no columns for the layout {layout}", header, where)
    if there["pairs"] and there["captions"]:
        raise InputError(
            "the file holds more than one kind of score",
            where=where,
            got=", ".join(header)[:300],
            step="say which to read: layout=pairs or layout=captions",
        )
    if there["answers"] and there["flags"] and not any(role in found for role in ("caption", "label", "order")):
        return "flags"  # what an answer means cannot be told, what a flag means can
    picked = next((name for name, present in there.items() if present), None)
    if picked is None:
        raise _nothing("no column looks like a score, a flag or an answer", header, where)
    return picked


def _nothing(what: str, header: Sequence[str], where: str) -> InputError:
    known = [*(name for names in VALUES.values() for name in names), *(name for style in STYLES for name in style)]
    hints = [f"{name!r}: {hint}" for name in header if (hint := near(plain(name), known, limit=1))]
    return InputError(
        what,
        where=where,
        got=f"columns {', '.join(header)}"[:300],
        expected="positive_score and negative_score, c0_i0 to c1_i1, correct, i2t_score, answer or the like",
        step="name them, for example columns={positive: MY_COLUMN, negative: OTHER}"
        + (f" ({'; '.join(hints[:2])})" if hints else ""),
    )
