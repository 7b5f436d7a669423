"""`audits list` and `audits show NAME`: what there is, where it comes from, and what of it is present here."""

from __future__ import annotations
