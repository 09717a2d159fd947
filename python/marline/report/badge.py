# SPDX-License-Identifier: Apache-2.0
"""A badge for a README: the efficiency of a run as a small SVG."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

_GOOD, _FAIR = 0.8, 0.6
_COLORS = ((_GOOD, "#2e7d32"), (_FAIR, "#b26a00"), (0.0, "#c62828"))  # white text on each has a contrast of 4.5 or more
_LETTER, _EDGE, _HEIGHT = 7, 6, 20

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{label}: {value}">
<title>{label}: {value}</title>
<clipPath id="round"><rect width="{width}" height="{height}" rx="3"/></clipPath>
<g clip-path="url(#round)">
<rect width="{left}" height="{height}" fill="#444"/>
<rect x="{left}" width="{right}" height="{height}" fill="{color}"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{middle_left}" y="14">{label}</text>
<text x="{middle_right}" y="14">{value}</text>
</g>
</svg>
"""


def write_badge(path: Path, efficiency: float) -> None:
    label, value = "efficiency", f"{100 * efficiency:.0f} %"
    long_left, long_right = _LETTER * len(label), _LETTER * len(value)
    left, right = long_left + 2 * _EDGE, long_right + 2 * _EDGE
    color = next(color for least, color in _COLORS if efficiency >= least)
    path.write_text(_SVG.format(
        width=left + right, height=_HEIGHT, left=left, right=right, color=color, label=escape(label),
        value=escape(value), middle_left=left / 2, middle_right=left + right / 2), encoding="utf-8")  # fmt: skip
