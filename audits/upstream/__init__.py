"""Upstream's own metrics beside ours."""
