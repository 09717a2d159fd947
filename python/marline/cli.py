# SPDX-License-Identifier: Apache-2.0
"""The command line's first word chooses a subcommand: a module with `main(arguments, prefix) -> exit status`, imported
only when it is asked for, so that a command needs none of the others' packages. `marline run` comes here only with
words that the compiled half of the command (launch/) does not know."""

import importlib
import os
import sys
from pathlib import Path

from marline.errors import REFUSED, USAGE, Refusal, say, what_failed
from marline.launch import stopping
from marline.launch.stopping import Stopped
from marline.layout import Layout

# Commands that older Pythons cannot run (older_python.py).
NEWER = ("report", "reuse", "study")
SUBCOMMANDS = {
    "run": ("marline.launch.options", "run a program on Marline, or say why that cannot be"),
    "check": ("marline.check.command", "run a program, and say which tasks were suspended under a mutex"),
    "ps": ("marline.ps.command", "what the tasks of a running or hung job wait for"),
    "trace": ("marline.trace.command", "run a program recorded, and say where the time went"),
    "report": ("marline.report.command", "where the time of a recorded run went; as text, JSON, CSV or charts"),
    "reuse": ("marline.reuse.command", "how much memory a schedule of tasks moves through caches"),
    "study": ("marline.study.command", "compare runtimes: run what a YAML file declares, in turns"),
    "devices": ("marline.devices", "the devices that a program finds"),
    "bug": ("marline.bug", "one archive with what a report of a fault needs, without private names"),
    "info": ("marline.info", "what is installed, what is in force, what is missing"),
}


def usage() -> str:
    lines = ["usage: marline COMMAND [ARGUMENTS]   (marline COMMAND --help tells more)", "       marline --version"]
    lines += [f"  {name:<8}{text}" for name, (_, text) in SUBCOMMANDS.items()]
    return "\n".join(lines)


def main(arguments: list[str], prefix: Path) -> int:
    """Whatever cannot be done is one line; a traceback is a bug of Marline."""
    try:
        stopping.heed()
        status = _dispatch(arguments, prefix)
        sys.stdout.flush()  # here, where a full disk can still be said
        return status
    except Refusal as refusal:
        say(str(refusal))
        return refusal.status
    except BrokenPipeError:
        _drop_output()  # its reader is gone: nothing is left to say, nor anybody to say it to
        return 1
    except OSError as error:
        _drop_output()
        say(what_failed(error))
        return REFUSED
    except Stopped as stopped:
        if stopping.is_first(os.environ):
            say(str(stopped))
        return stopping.end_by(stopped.number)


def _drop_output() -> None:
    """What could not be written would be tried again at the interpreter's end, and end in a traceback there."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    os.close(sink)


def _dispatch(arguments: list[str], prefix: Path) -> int:
    if arguments[:1] == ["--version"]:
        from marline import loading  # loads ctypes, which no command needs that starts a program

        print(f"marline {loading.version(Layout(prefix))}")
        return 0
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["help"]:
        print(usage())
        return 0 if arguments else USAGE
    if arguments[0] == "help":
        arguments = [arguments[1], "--help"]
    name, rest = arguments[0], arguments[1:]
    if name == "claim":  # the compiled half's word
        from marline.launch import options

        return options.claim(rest, prefix)
    if name not in SUBCOMMANDS:
        say(f"no command named {name!r}; there are: {', '.join(SUBCOMMANDS)}")
        return USAGE
    if name in NEWER and sys.version_info < (3, 10):
        from marline import older_python

        older_python.refuse_what_needs_newer(f"marline {name}", arguments)
    return importlib.import_module(SUBCOMMANDS[name][0]).main(rest, prefix)
