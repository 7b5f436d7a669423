"""Find out which column of a user's table plays which role."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.errors import InputError, near

# Common names by role, the likeliest first; compared in lower case with "_" for blanks and hyphens.
NAMES: Mapping[str, tuple[str, ...]] = {
    "caption": (
        "caption", "captions", "true_caption", "positive_caption", "pos_caption", "caption_pos", "correct_caption",
        "caption_true", "caption_positive", "positive", "positives", "positive_captions", "pos", "original_caption",
        "caption_base", "base_caption", "sentence", "text",
    ),
    "foil": (
        "foil", "foils", "false_caption", "negative_caption", "negative_captions", "neg_caption", "neg_captions",
        "caption_neg", "caption_false", "caption_negative", "caption_foil", "foil_caption", "wrong_caption",
        "incorrect_caption", "hard_negative", "hard_negatives", "hard_neg", "hard_negs", "hard_text", "distractor",
        "distractors", "negative", "negatives", "neg", "caption_var",
        "edited_caption", "caption_edited",
    ),
    "image": (
        "image", "image_path", "filename", "file_name", "image_file", "image_base", "image_filename", "image_name",
        "img", "img_path", "picture", "positive_image", "pos_image", "image_pos", "file", "path",
    ),
    "image_foil": (
        "image_foil", "foil_image", "negative_image", "neg_image", "image_neg", "image_negative", "image_var",
        "edited_image", "edited_image_path", "image_foil_path",
    ),
    "subset": ("subset", "category", "type", "split"),
    "cluster": ("cluster", "cluster_id", "scene", "scene_id"),
    "id": ("id", "uid", "key", "instance_id", "item_id", "example_id", "sample_id"),
    "query": ("query", "question", "prompt"),
}  # fmt: skip
SEVERAL = ("caption", "foil")  # roles that may spread over numbered columns
NUMBERED = re.compile(r"(.*?)_?(\d+)")
Choice = str | Sequence[str] | bool | None


@dataclass(frozen=True, slots=True)
class Columns:
    """Hold the columns by role; roles without a column are missing.

    Attributes:
        by_role: One column per role, several for captions and foils that spread over columns.
        others: Columns without a role, in order.
    """

    by_role: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...]

    def one(self, role: str) -> str:
        """Return the only column of a role, or an empty string."""
        return self.by_role.get(role, ("",))[0]

    def told(self) -> str:
        """Return the assignment in words."""
        return ", ".join(f"{role} = {' + '.join(names)}" for role, names in self.by_role.items())


def assign(header: Sequence[str], choices: Mapping[str, Choice], *, where: str) -> Columns:
    """Assign columns to roles: as chosen, else by common names.

    Args:
        header: The columns.
        choices: By role, a column or list of columns; None guesses, False leaves the role empty.
        where: The file, for messages.

    Raises:
        InputError: If a chosen column does not exist, two columns fit one role alike, or a needed role has none.
    """
    found: dict[str, tuple[str, ...]] = {}
    for role, choice in choices.items():
        if role not in NAMES:
            raise InputError(
                "unknown option of a table",
                where="benchmark",
                got=role,
                expected=", ".join(NAMES),
                step=near(role, NAMES),
            )
        if choice is not None and choice is not False:
            found[role] = _chosen(role, choice, header, where)
    taken = {name for names in found.values() for name in names}
    for role in NAMES:
        if choices.get(role) is None:
            guess = _guess(role, [name for name in header if name and name not in taken], where)
            found |= {role: guess} if guess else {}
            taken |= set(guess)
    ordered = {role: found[role] for role in NAMES if role in found}
    _check_roles(ordered, header, where)
    return Columns(ordered, tuple(name for name in header if name and name not in taken))


def _chosen(role: str, choice: Choice, header: Sequence[str], where: str) -> tuple[str, ...]:
    names = (choice,) if isinstance(choice, str) else tuple(choice) if isinstance(choice, (list, tuple)) else ()
    if not names or (len(names) > 1 and role not in SEVERAL):
        raise InputError("not a column", where=f"benchmark.{role}", got=f"{choice!r}", expected="a column name")
    for name in names:
        if name not in header:
            raise InputError(
                f"benchmark.{role} names a column that the table does not have",
                where=where,
                got=str(name),
                expected=f"one of {_listed(header)}",
                step=near(str(name), header),
            )
    return tuple(str(name) for name in names)


def _guess(role: str, header: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the column with the likeliest common name, or the numbered columns of such a name."""
    for common in NAMES[role]:
        same = [name for name in header if _plain(name) == common]
        if len(same) > 1:
            raise InputError(
                f"two columns look like the {role}",
                where=where,
                got=", ".join(same),
                step=f"say which: benchmark.{role}={same[0]}",
            )
        rest = _numbered(common, header) if role in SEVERAL else []
        if same or rest:
            return (*same, *rest)
    return ()


def _numbered(common: str, header: Sequence[str]) -> list[str]:
    """Return `foil_1`, `foil_2`, ... in the order of their numbers."""
    hits = [(match, name) for name in header if (match := NUMBERED.fullmatch(_plain(name))) and match[1] == common]
    return [name for _, name in sorted(hits, key=lambda hit: int(hit[0][2][:9]))]


def _check_roles(found: Mapping[str, tuple[str, ...]], header: Sequence[str], where: str) -> None:
    """Refuse a table from which no comparison can be made."""
    owners: dict[str, str] = {}
    for role, names in found.items():
        for name in names:
            if name in owners:
                raise InputError("one column has two roles", where=where, got=f"{name}: {owners[name]} and {role}")
            owners[name] = role
    if "caption" not in found:
        raise _no_column("caption", found, header, where)
    if "foil" not in found and "image_foil" not in found:
        raise _no_column("foil", found, header, where)
    if "image_foil" in found and "image" not in found:
        raise _no_column("image", found, header, where)


def _no_column(role: str, found: Mapping[str, tuple[str, ...]], header: Sequence[str], where: str) -> InputError:
    taken = {name for names in found.values() for name in names}
    free = {_plain(name): name for name in header if name and name not in taken}
    close = [hint for common in NAMES[role][:8] if (hint := near(common, free, limit=1))]
    # The names were compared in their plain form; what is offered is the column as it is written.
    hints = [hint.replace(plain, name) for hint in close for plain, name in free.items() if f" {plain}?" in hint]
    return InputError(
        f"no column looks like the {role}",
        where=where,
        got=f"columns {_listed(header)}",
        expected=f"one of {', '.join(NAMES[role])}",
        step=f"name it: benchmark.{role}=COLUMN" + (f" ({hints[0]})" if hints else ""),
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def _listed(header: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in header)[:300]
