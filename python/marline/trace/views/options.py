# SPDX-License-Identifier: Apache-2.0
"""The options of both commands for what can be made of a trace. Standard library only, as recording needs no more."""

import argparse
from pathlib import Path

from marline.errors import Refusal

# Suffixes of files that the options' formats are not.
IMAGES = {".png", ".svg", ".jpg", ".jpeg", ".pdf", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".eps", ".ps"}


def add_views(parser: argparse.ArgumentParser) -> None:
    """What can be made of a trace, by `marline trace` at once and by `marline report` later."""
    group = parser.add_argument_group("timelines and charts")
    group.add_argument("--perfetto", metavar="FILE", help="write a trace for https://ui.perfetto.dev")
    group.add_argument("--chrome", metavar="FILE", help="write Chrome's trace event format (JSON)")
    group.add_argument("--png", metavar="FILE", help="draw a Gantt chart")
    group.add_argument("--svg", metavar="FILE", help="draw a Gantt chart as vectors")
    group.add_argument("--html", metavar="FILE", help="write a page to look at in a browser: one file, for all of it")
    group.add_argument("--full", action="store_true",
                       help="let the page (--html) hold every task, however large it gets")
    group.add_argument("--color-by", metavar="REGION",
                       help="colour tasks in charts and pages by how often their creator had begun this region "
                       "(marline/trace.h); graph-iteration: by the iteration of their persistent graph")
    parser.add_argument("--pass", dest="passes", metavar="FILE.py|NAME", action="append", default=[], type=Path,
                        help="print what the analysis passes of this file find, or Marline's pass of this name; may "
                        "be repeated")  # fmt: skip


def check_views(options: argparse.Namespace) -> None:
    """Refuses a file whose name says that it is another kind of image, and options without what they are about."""
    if options.color_by and not (options.png or options.svg or options.html):
        raise Refusal(f"--color-by {options.color_by} colours charts and pages: give --png, --svg or --html, too")
    if options.full and not options.html:
        raise Refusal("--full says how much the page of --html holds: name that, too")
    if options.html and Path(options.html).suffix.lower() in IMAGES:
        raise Refusal(f"--html {options.html}: what is written is HTML: name it {Path(options.html).stem}.html")
    for name in ("png", "svg"):
        file = getattr(options, name)
        suffix = Path(file).suffix.lower() if file else ""
        if suffix in IMAGES - {f".{name}"}:
            raise Refusal(f"--{name} {file}: the chart is written as {name.upper()}: name it {Path(file).stem}.{name}")


def views_of(options: argparse.Namespace) -> list[str]:
    """The options given that make something of a trace's records."""
    names = [f"--{name}" for name in ("perfetto", "chrome", "png", "svg", "html") if getattr(options, name)]
    return names + (["--pass"] if options.passes else [])
