#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page marline.1 from what `marline --help` and `marline COMMAND --help` print. The build runs it.

    gen_man.py VERSION FILE
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from marline import cli  # noqa: E402  (the package is found through the line above)

COLUMNS = 75  # what `man` leaves beside its margins on a terminal of 80
TOP = """.\\" Made by tools/gen_man.py from the texts of `marline --help`. Do not edit this page.
.TH MARLINE 1 "" "Marline {version}" "User Commands"
.SH NAME
marline \\- run programs on Marline, an OpenMP runtime, and see what their tasks do
.SH SYNOPSIS
.B marline
.I COMMAND
.RI [ ARGUMENTS ]
.br
.B marline \\-\\-version
.SH COMMANDS
"""
BOTTOM = """.SH FILES
Below the folder that Marline is installed in:
.TP
.I share/doc/marline
README.md and the pages that messages name, such as docs/options.md, which lists the environment variables
.TP
.I lib/marline/compat
for LD_LIBRARY_PATH: the names of libgomp and libomp, which lead to Marline
.TP
.I lib/marline/gdb/marline.py
commands for GDB
.SH SEE ALSO
.BR mpirun (1),
.BR srun (1),
.BR gdb (1)
"""


def help_of(*command: str) -> str:
    """What the command prints, by a Python without any packages: a help text must need none."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from pathlib import Path; from marline.cli import main; " \
           "sys.exit(main(sys.argv[1:], Path('/')))"  # fmt: skip
    words = [sys.executable, "-S", "-c", code, str(ROOT / "python"), *command, "--help"]
    result = subprocess.run(words, env=os.environ | {"COLUMNS": str(COLUMNS)}, capture_output=True, text=True,
                            check=False)  # fmt: skip
    if result.returncode != 0:
        sys.exit(f"gen_man: marline {' '.join(command)} --help: {result.stderr.strip()}")
    return result.stdout


def as_printed(text: str) -> str:
    lines = [line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq") for line in text.rstrip().splitlines()]
    return ".nf\n" + "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in lines) + "\n.fi\n"


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    page = TOP.format(version=sys.argv[1]) + as_printed(help_of())
    for command in cli.SUBCOMMANDS:
        page += f".SS marline {command}\n" + as_printed(help_of(command))
    Path(sys.argv[2]).write_text(page + BOTTOM)
    return 0


if __name__ == "__main__":
    sys.exit(main())
