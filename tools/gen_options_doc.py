#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/options.md and common/option_names.hpp from the option tables (runtime/config/option_table.cpp,
foreign_table.cpp and names.cpp, base/options.cpp of mpi, offload and trace), which have the form of common/options.hpp.

    gen_options_doc.py [--check] [ROOT]     --check: writes nothing, exit 1 if a file is not what the tables say
"""
from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

LITERAL = r'"(?:\\.|[^"\\])*"'
FIELD = rf"{LITERAL}(?:\s*{LITERAL})*"
ENTRY = re.compile(rf'^    \{{\s*({LITERAL}),\s*({FIELD}),\s*({FIELD}),\s*({FIELD})[,}}]', re.MULTILINE)

INTRODUCTION = """\
<!-- Made by tools/gen_options_doc.py from runtime/config/option_table.cpp, foreign_table.cpp, \
names.cpp, and base/options.cpp of mpi, offload and trace. Edit the tables, not this page. -->
# Options

Marline reads its options from the environment when the library is loaded, and once more at the program's first use of
OpenMP if it has set others by then; libmarline-mpi reads its own in `MPI_Init`, libmarline-target when it is loaded,
which is when a program with target regions starts, libmarline-trace when it starts to record.
`OMP_DISPLAY_ENV=true` prints those of OpenMP that are in force, `OMP_DISPLAY_ENV=verbose` all of the libraries that are
loaded by then.

- A value that cannot be used is reported in one line on stderr, with what is accepted. Options of the runtime and of
  libmarline-mpi keep their defaults then; the first rank reports it for all. Options of libmarline-target and of
  libmarline-trace end the program with exit code 2, also if the program has no device that the option is for. Of the
  processes of a job, the first one reports an option of libmarline-target; each reports `MARLINE_NODE_DEVICES`, which
  may differ.
- A variable `MARLINE_...` that does not exist, but is similar to one that does, is reported by the first rank, with the
  one that is probably meant.
- An empty value counts as not given. Case does not matter in words, nor does white space around items.
- `true` may also be written `yes`, `on` or `1`; `false` may be written `no`, `off` or `0`.
- The most common variables that only LLVM's or GCC's runtime knows are understood, see the table of them below;
  `KMP_HW_SUBSET` is obeyed ([where threads run](guide/affinity.md)). All other `KMP_*`, `LIBOMP_*` and `GOMP_*` are \
ignored
  with one line each, unless the value asks for what holds here anyway. `KMP_WARNINGS=false` takes all such lines away.
- `OMP_X_ALL` stands for `OMP_X` where that is not given (OpenMP 6.0). `OMP_X_DEV` and `OMP_X_DEV_n` are for other \
devices
  and say nothing to the host. A variable `OMP_...` that OpenMP does not have is reported with the nearest that it has.
- `OMP_PROC_BIND=false`, the default unless `OMP_PLACES` is given, also takes the effect from `proc_bind` clauses.
- A program that has rights that its user does not have (set-uid, set-gid, file capabilities) obeys only variables about
  threads and loops ([which](guide/running.md)).
"""

FOREIGN = """\
Each stands for options above, and is passed over if one of those is given. If two stand for the same, the upper one \
holds.
A value that cannot be used is reported in one line, and the options that the variable stands for keep their defaults.
"""

NOT_OBEYED = """\
A line says so, unless the variable has one of the values in the second column (`*`: any), which change nothing.
"""
NAME_ENTRY = re.compile(rf'^    \{{\s*({LITERAL}),\s*({FIELD}),\s*({FIELD})\}}', re.MULTILINE)


@dataclass(frozen=True)
class Option:
    name: str
    default: str
    accepted: str
    summary: str


def join(field: str) -> str:
    """The text of adjacent C string literals."""
    return "".join(part[1:-1].replace('\\"', '"').replace("\\\\", "\\") for part in re.findall(LITERAL, field))


def read_table(path: Path) -> list[Option]:
    text = path.read_text()
    options = [Option(*(join(field) for field in match.groups())) for match in ENTRY.finditer(text)]
    entries = len(re.findall(r'^    \{\s*"(?:OMP|MARLINE|KMP|GOMP)_', text, re.MULTILINE))
    if not options or entries != len(options):
        sys.exit(f"{path}: {entries} entries, {len(options)} understood: see ENTRY in {Path(__file__).name}")
    return options


def read_names(path: Path) -> list[tuple[str, str, str]]:
    text = path.read_text()
    names = [(join(entry[1]), join(entry[2]), join(entry[3])) for entry in NAME_ENTRY.finditer(text)]
    entries = len(re.findall(r'^    \{\s*"', text, re.MULTILINE))
    if not names or entries != len(names):
        sys.exit(f"{path}: {entries} entries, {len(names)} understood: see NAME_ENTRY in {Path(__file__).name}")
    return names


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(options: list[Option]) -> list[str]:
    lines = ["| variable | default | accepted | |", "|---|---|---|---|"]
    for option in options:
        default = f"`{option.default}`" if option.default else "(empty)"
        lines.append(f"| `{option.name}` | {default} | {cell(option.accepted)} | {cell(option.summary)} |")
    return lines


def foreign_table(options: list[Option]) -> list[str]:
    lines = ["| variable | stands for | accepted | |", "|---|---|---|---|"]
    for option in options:
        names = ", ".join(f"`{name}`" for name in option.default.split(", ") if name)
        lines.append(f"| `{option.name}` | {names} | {cell(option.accepted)} | {cell(option.summary)} |")
    return lines


def not_obeyed_table(names: list[tuple[str, str, str]]) -> list[str]:
    lines = ["| variable | holds anyway | what is here instead |", "|---|---|---|"]
    return lines + [f"| `{name}` | {anyway and f'`{anyway}`'} | {cell(instead)} |" for name, anyway, instead in names]


def page(runtime: list[Option], mpi: list[Option], devices: list[Option], trace: list[Option], foreign: list[Option],
         names: list[tuple[str, str, str]]) -> str:
    lines = [INTRODUCTION]
    for title, options in (("OpenMP's variables", [option for option in runtime if option.name.startswith("OMP_")]),
                           ("Marline's own", [option for option in runtime if option.name.startswith("MARLINE_")]),
                           ("MPI: libmarline-mpi's", mpi), ("Devices: libmarline-target's", devices),
                           ("Recording: libmarline-trace's", trace)):  # fmt: skip
        lines += [f"## {title}", ""]
        lines += table(options) + [""]
    lines += ["## Other runtimes' variables", "", FOREIGN]
    lines += foreign_table(foreign) + [""]
    lines += ["## Variables that are not obeyed", "", NOT_OBEYED]
    lines += not_obeyed_table(names) + [""]
    return "\n".join(lines[:-1]) + "\n"


NAMES = """\
// SPDX-License-Identifier: Apache-2.0
//
// The names of the options of all libraries, by which the runtime finds misspelt ones (runtime/config/names.cpp). Made
// by tools/gen_options_doc.py from the option tables. Edit the tables, not this file.
#pragma once

namespace marline {

inline constexpr const char* kOptionNames[] = {
%s};

}  // namespace marline
"""


def option_names(tables: list[list[Option]]) -> str:
    names = sorted(option.name for options in tables for option in options)
    return NAMES % "".join(f'    "{name}",\n' for name in names)


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent)
    paths = ("runtime/config/option_table.cpp", "mpi/base/options.cpp", "offload/base/options.cpp",
             "trace/base/options.cpp", "runtime/config/foreign_table.cpp")
    tables = [read_table(root / path) for path in paths]
    made = {root / "docs" / "options.md": page(*tables, read_names(root / "runtime/config/names.cpp")),
            root / "common" / "option_names.hpp": option_names(tables[:-1])}
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} is not what the option tables say: run tools/gen_options_doc.py")
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
