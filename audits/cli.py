"""The command line: `audits VERB [positional] [hydra overrides]`, exit statuses and messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from audits import __version__, experiment, jobs, listing, overrides, rerender, sample, status, sweep
from audits.config import CONF
from audits.config_errors import explain
from benchmarks.errors import InputError, near
from reports import endings
from reports.streams import is_lost, lost, stand_in, write_out

USAGE = """\
audits - does this benchmark need the image?

usage: audits VERB [positional] [key=value ...]     (also: python -m audits VERB ...)

  run                          audit one benchmark: audits run benchmark=sugarcrepe benchmark.root=DIR
  run experiment=NAME out=DIR  audit several: audits run experiment=good_crepe paths.benchmarks=DIR out=DIR
  run ... dry_run=true         what it would compute, ask and pay; nothing is done
  sample out=DIR               write the bundled sample, with or without a planted shortcut
  list [benchmark|baseline|model|probe]
                               what there is, and what of it is present here
  show NAME                    the card of a benchmark, baseline, model or probe
  report DIR                   render a finished run again

Overrides are Hydra's: `audits run --cfg job` prints the configuration, `-m` sweeps, lists select several
('baseline=[length,likelihood]'), `none` selects nothing. Own data: audits run benchmark=table benchmark.path=mine.csv

exit status: 0 done, 3 mistake in the input, 4 fault of ours (1 and 2 belong to gates)
"""


class Verb(NamedTuple):
    """Say what a verb runs, under which top configuration, and which key a bare word goes to."""

    job: Callable[[DictConfig], status.Exit]
    positional: str = ""


VERBS = {
    "run": Verb(experiment.job),
    "sample": Verb(sample.job),
    "list": Verb(listing.list_job, "kind"),
    "show": Verb(listing.show_job, "name"),
    "report": Verb(rerender.job, "dir"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (see `status.Exit`)."""
    stand_in()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if os.environ.get("HYDRA_FULL_ERROR") == "1":
        os.environ[jobs.TRACES] = "1"  # jobs, also those in processes of their own, read it there
    try:
        return int(_dispatch(words))
    except (InputError, HydraException, OmegaConfBaseException) as error:
        jobs.show_traceback(error)
        endings.error(_explained(error, words))
        return status.Exit.INPUT
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command with the same out= goes on where this one stopped\n")
        return status.Exit.INTERRUPTED
    except SystemExit as stop:
        # argparse, inside Hydra, ends this way on a wrong flag (2) and on --help (0).
        return status.Exit.INPUT if stop.code not in (0, None) else status.Exit.DONE
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> status.Exit:
    """Say that the toolkit failed, or that what Hydra itself prints (`--cfg job`) could not be written."""
    if isinstance(error, OSError) and is_lost(error):
        try:
            lost(sys.stdout, error)
        except InputError as problem:
            endings.error(problem)
            return status.Exit.INPUT
        return status.Exit.DONE
    jobs.show_traceback(error)
    endings.fault(error, jobs.keep_traceback(error))
    return status.Exit.FAULT


def _dispatch(words: list[str]) -> status.Exit:
    """Run the verb that the first word names."""
    if words and words[0] in {"-V", "--version", "version"}:
        write_out(f"audits {__version__}\n")
        return status.Exit.DONE
    if not words or words[0] in {"-h", "--help", "help"}:
        write_out(USAGE)
        return status.Exit.DONE
    name, rest = words[0], words[1:]
    if name not in VERBS:
        raise InputError(
            f"no verb is called {name!r}",
            expected=", ".join(VERBS),
            step=near(name, VERBS) or "see `audits --help`",
        )
    verb = VERBS[name]
    translated = overrides.translate(rest, positional=verb.positional, verb=name)
    _hydra(name, verb, translated)
    write_out("")  # what Hydra itself printed leaves the buffer here, where a failure can still be told
    return status.collect()


def _hydra(name: str, verb: Verb, translated: list[str]) -> None:
    """Hand over to Hydra, which composes the configuration and calls the verb's job once, or once per sweep job."""
    # Without this Hydra prints its own message and exits with 1, which is kept for the gate.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    sys.argv = ["audits", *translated]
    entry = hydra.main(version_base="1.3", config_path=str(CONF), config_name=name)(jobs.Job(name, verb.job))
    try:
        entry()
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and is_lost(error):
            raise
        # Jobs never raise: this is Hydra, refusing its flags or unable to make the output folder.
        raise jobs.as_input_error(error, name) or InputError("Hydra refuses the command", got=str(error)) from error
    finally:
        sweep.tidy()


def _explained(error: Exception, words: list[str]) -> InputError:
    return error if isinstance(error, InputError) else explain(error, words)
