"""`python -m audits VERB [overrides]`; also installed as `audits`."""

from audits.shadow import refuse_shadowed

refuse_shadowed()

from audits.cli import main  # noqa: E402 - nothing of ours may be imported before the check above

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
