"""`python -m audits VERB [overrides]`; also installed as `audits`."""

from audits.quiet import quiet_libraries
from audits.shadow import refuse_shadowed

refuse_shadowed()
quiet_libraries()

from audits.cli import main  # noqa: E402 - libraries read their settings, and find our packages, when imported

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
