# SPDX-License-Identifier: Apache-2.0
"""The command line's first word chooses a subcommand: a module with `main(arguments, prefix) -> exit status`, imported
only when it is asked for, so that `marline run` starts fast and needs none of the others' packages."""

import importlib
import sys
from pathlib import Path

from marline.errors import Refusal, say

SUBCOMMANDS = {
    "run": ("marline.run", "run a program on Marline, or say why that cannot be"),
    "trace": ("marline.trace_command", "run a program recorded, and say where the time went"),
    "report": ("marline.report_command", "where the time of a recorded run went; as text, JSON, CSV or charts"),
    "study": ("marline.study.command", "compare runtimes: run what a YAML file declares, in turns"),
    "info": ("marline.info", "what is installed, what is in force, what is missing"),
}

USAGE = 2


def usage() -> str:
    lines = ["usage: marline COMMAND [ARGUMENTS]   (marline COMMAND --help tells more)"]
    lines += [f"  {name:<8}{text}" for name, (_, text) in SUBCOMMANDS.items()]
    return "\n".join(lines)


def main(arguments: list[str], prefix: Path) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if arguments else USAGE
    name, rest = arguments[0], arguments[1:]
    if name not in SUBCOMMANDS:
        say(f"no command named {name!r}; there are: {', '.join(SUBCOMMANDS)}")
        return USAGE
    try:
        return importlib.import_module(SUBCOMMANDS[name][0]).main(rest, prefix)
    except Refusal as refusal:
        say(str(refusal))
        return refusal.status
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone: nothing is left to say, nor anybody to say it to
        return 1
