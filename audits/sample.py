"""Write a tableaux sample in CompoSET's release layout."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

from audits.config import plain
from audits.status import Exit
from benchmarks import tableaux
from benchmarks.errors import InputError
from benchmarks.tableaux import drawing, release
from reports.streams import write_out


def job(cfg: DictConfig) -> Exit:
    """Write the sample that the configuration describes and say what it is.

    Raises:
        InputError: If the folder is not empty, or an option is out of range.
    """
    values = plain(cfg)
    if type(values["images"]) is not bool:
        raise InputError("wrong type", where="images", got=repr(values["images"]), expected="true or false")
    spec = tableaux.specification(values["scenes"], values["seed"], values["shortcut"], values["strength"])
    out = Path(values["out"])
    # A size that cannot be drawn is refused before anything is written.
    size = drawing.checked_size(values["size"])
    release.write(spec, out, also=(lambda folder: drawing.draw(spec, folder, size=size)) if values["images"] else None)
    write_out(
        f"{out}: {values['scenes']} scenes, seed {values['seed']}, shortcut {values['shortcut']} "
        f"at strength {values['strength']}, specification {spec.digest[:12]}\n"
        f"audit it: audits run benchmark=compset benchmark.root={out}\n"
    )
    return Exit.DONE
