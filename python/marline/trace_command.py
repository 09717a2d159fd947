# SPDX-License-Identifier: Apache-2.0
"""`marline trace DIR`: the command line of marline.trace.export. Apart so that a missing NumPy is one line."""

from pathlib import Path

from marline.errors import Refusal


def main(arguments: list[str], _: Path) -> int:
    try:
        from marline.trace import export
    except ImportError as error:
        raise Refusal(f"{error}: reading traces needs NumPy, charts need Matplotlib; "
                      "python3 -m pip install numpy matplotlib") from error  # fmt: skip
    return export.main(arguments)
