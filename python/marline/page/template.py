# SPDX-License-Identifier: Apache-2.0
"""A page from assets/: a template with {{names}}, our style and scripts, and the library that draws the plots."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

_HERE = Path(__file__).parent


def fill(template: str, parts: Mapping[str, str]) -> str:
    """The template with `parts` in it, and with what all pages have."""
    # The dark colours hold for who asks for them and, unless light is asked for, where the system is dark.
    theme = asset("assets/theme.css").replace("/* dark.css */", asset("assets/dark.css"))
    both = {
        "style": asset("vendor/uplot/uPlot.min.css") + theme + asset("assets/page.css"),
        "library": asset("vendor/uplot/uPlot.iife.min.js"),
        "licence": escape(asset("vendor/uplot/MIT.txt")),
    } | dict(parts)
    pieces = asset(f"assets/{template}").split("{{")
    return pieces[0] + "".join(both[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


def scripts(*names: str) -> str:
    return "\n".join(asset(f"assets/{name}") for name in names)


def asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
