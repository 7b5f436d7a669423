"""The run folder (write, read) and everything made for people: terminal, Markdown, figures."""
