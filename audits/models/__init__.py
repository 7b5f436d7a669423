"""Models under audit: contestants that are shown both sides."""
