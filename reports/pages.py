"""Write what people read of a run: the report as HTML and Markdown, and its first chart as files for slides."""

from __future__ import annotations

from pathlib import Path

from reports import files
from reports.charts import SINGLE
from reports.drawing import png, svg
from reports.figures import WIDE, lay_out
from reports.html import render_html
from reports.markdown import render_markdown
from reports.text import plain
from reports.view import View

MARKDOWN, HTML, FIGURES = "report.md", "report.html", "figures"


def write_pages(folder: Path, view: View) -> None:
    """Write every page of a view into a run folder; the same view gives the same bytes."""
    if view.charts:
        _write_figures(folder / FIGURES, view)
    files.write_text(folder / MARKDOWN, render_markdown(view))
    files.write_text(folder / HTML, render_html(view))


def _write_figures(folder: Path, view: View) -> None:
    """Write the charts that show several columns; what limits the report goes with each, for figures travel."""
    folder.mkdir(exist_ok=True)
    for chart in view.charts:
        if chart.key.startswith(SINGLE):
            continue
        headings = [plain(view.title), chart.title, *(part.strip() for part in view.banner.split(":", 1) if part)]
        layout = lay_out(chart, WIDE, headings=headings)
        files.write_text(folder / f"{chart.key}.svg", svg(layout))
        files.write_bytes(folder / f"{chart.key}.png", png(layout))
