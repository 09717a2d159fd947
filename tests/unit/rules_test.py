#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks in tools/ fail when their rule is broken: each is run on small trees with one violation, and on a clean
one.

    rules_test.py TOOLS_FOLDER
"""
from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(sys.argv.pop(1)).resolve()


def body(lines: int) -> str:
    return "  step();\n" * (lines - 2)


class Tree(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("include/marline/marline.h", "")
        self.write("runtime/base/list.hpp", "")
        self.write("runtime/sched/deque.hpp", '#include "base/list.hpp"\n#include "marline/marline.h"\n')
        self.write("mpi/engine/engine.c", '#include "engine.h"\n#include <marline/marline.h>\n')
        self.write("mpi/engine/engine.h", "")
        # Without the rules about single files, which do not exist here.
        rules = (TOOLS / "layers.txt").read_text().splitlines(keepends=True)
        self.write("tools/layers.txt", "".join(line for line in rules if not line.startswith(("upward ", "circle "))))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_tool(self, name: str, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, TOOLS / name, *options, self.root], capture_output=True, text=True)

    def expect(self, tool: str, *fragments: str) -> None:
        result = self.run_tool(tool)
        self.assertEqual(result.returncode, 1 if fragments else 0, result.stdout + result.stderr)
        for fragment in fragments:
            self.assertIn(fragment, result.stdout)


class Layers(Tree):
    def test_clean(self) -> None:
        self.expect("check_layers.py")

    def test_upwards(self) -> None:
        self.write("runtime/base/list.cpp", '#include "sched/deque.hpp"\n')
        self.expect("check_layers.py", "runtime/base/list.cpp:1", "base (0) must not see sched (5)")

    def test_upwards_by_relative_path_and_angle_brackets(self) -> None:
        self.write("runtime/base/a.cpp", '#include "../sched/deque.hpp"\n')
        self.write("runtime/base/b.cpp", "#  include <sched/deque.hpp>\n")
        self.expect("check_layers.py", "runtime/base/a.cpp:1", "runtime/base/b.cpp:1")

    def test_room_without_number(self) -> None:
        self.write("runtime/attic/old.hpp", "")
        self.expect("check_layers.py", "runtime/attic: this room has no number")

    def test_client_looks_inside(self) -> None:
        self.write("mpi/engine/engine.h", '#include "../runtime/base/list.hpp"\n')
        self.expect("check_layers.py", "mpi/engine/engine.h:1", "is a client")

    def test_clients_share_one_folder_only(self) -> None:
        self.write("pmpi/caller.h", "")
        self.write("mpi/engine/engine.h", '#include "../pmpi/caller.h"\n')
        self.expect("check_layers.py")
        self.write("trace/record.hpp", '#include "../mpi/engine/engine.h"\n')
        self.write("pmpi/caller.c", '#include "../mpi/engine/engine.h"\n#include <marline/marline.h>\n')
        self.expect("check_layers.py", "trace/record.hpp:1", "pmpi/caller.c:1", "pmpi/caller.c:2")

    def test_core_looks_at_a_client(self) -> None:
        self.write("runtime/sched/deque.hpp", '#include "../../mpi/engine/engine.h"\n')
        self.expect("check_layers.py", "runtime/ includes include/ and its own rooms only")

    def test_parts(self) -> None:
        self.write("runtime/exec/fiber/fiber.hpp", "")
        self.write("runtime/exec/team/team.cpp", '#include "exec/fiber/fiber.hpp"\n')
        self.expect("check_layers.py")
        self.write("runtime/exec/team/team.hpp", "")
        self.write("runtime/exec/fiber/fiber.cpp", '#include "exec/team/team.hpp"\n')
        self.expect("check_layers.py", "runtime/exec/fiber/fiber.cpp:1",
                    "runtime/exec/fiber (0) must not see runtime/exec/team (2)")

    def test_parts_of_a_client(self) -> None:
        self.write("mpi/calls/wait.h", "")
        self.write("mpi/calls/wait.c", '#include "calls/wait.h"\n#include "engine/engine.h"\n')
        self.expect("check_layers.py")
        self.write("mpi/engine/engine.c", '#include "calls/wait.h"\n')
        self.expect("check_layers.py", "mpi/engine/engine.c:1", "mpi/engine (2) must not see mpi/calls (4)")

    def test_parts_of_a_part(self) -> None:
        self.write("offload/wire/base/wire.hpp", "")
        self.write("offload/device/contract/device.hpp", "")
        self.write("offload/device/remote/program/remote_device.hpp", "")
        self.write("offload/device/remote/program/remote_device.cpp",
                   '#include "device/contract/device.hpp"\n#include "wire/base/wire.hpp"\n')
        self.expect("check_layers.py")
        self.write("offload/device/contract/device.hpp", '#include "device/remote/program/remote_device.hpp"\n')
        self.write("offload/wire/base/wire.hpp", '#include "device/remote/program/remote_device.hpp"\n')
        self.write("offload/device/old.cpp", "")
        self.expect(
            "check_layers.py",
            "offload/device/contract (0) must not see offload/device/remote (3)",
            "offload/wire (1) must not see offload/device (2)",
            "offload/device/old.cpp: lies in no part",
        )

    def test_file_in_no_part(self) -> None:
        self.write("mpi/attic.c", "")
        self.write("runtime/exec/attic/old.cpp", "")
        self.expect("check_layers.py", "mpi/attic.c: lies in no part", "runtime/exec/attic/old.cpp: lies in no part")

    def test_upward_by_leave(self) -> None:
        self.write("runtime/exec/team/team.hpp", "")
        self.write("runtime/exec/fiber/fiber.cpp", '#include "exec/team/team.hpp"\n')
        leave = "upward runtime/exec/fiber/fiber.cpp runtime/exec/team/team.hpp\n"
        self.write("tools/layers.txt", (self.root / "tools/layers.txt").read_text() + leave)
        self.expect("check_layers.py")
        self.write("runtime/exec/fiber/fiber.cpp", "")
        self.expect("check_layers.py",
                    "runtime/exec/fiber/fiber.cpp does not go up to runtime/exec/team/team.hpp any more")

    def test_header_for_a_few_places(self) -> None:
        self.write("offload/device/contract/kinds.hpp", "")
        for name in ("offload/device/process/process.cpp", "offload/registry/device_list.cpp"):
            self.write(name, '#include "device/contract/kinds.hpp"\n')
        self.expect("check_layers.py")
        for name in ("registry/registry.cpp", "abi/omp/routines.cpp", "device/process/process.hpp"):
            self.write(f"offload/{name}", '#include "device/contract/kinds.hpp"\n')
        self.expect("check_layers.py", "offload/registry/registry.cpp:1", "offload/abi/omp/routines.cpp:1",
                    "offload/device/process/process.hpp:1",
                    "only sources of offload/device and offload/registry/device_list.cpp include it")

    def test_headers_in_a_circle(self) -> None:
        self.write("runtime/base/a.hpp", '#include "base/b.hpp"\n')
        self.write("runtime/base/b.hpp", '#include "base/list.hpp"\n')
        self.expect("check_layers.py")
        self.write("runtime/base/list.hpp", '#include "base/a.hpp"\n')
        self.expect("check_layers.py",
                    "headers include one another: runtime/base/a.hpp, runtime/base/b.hpp, runtime/base/list.hpp")

    def test_modules_in_a_circle(self) -> None:
        self.write("apps/halo/grid.h", "")
        self.write("apps/halo/grid.c", '#include "grid.h"\n#include "verify.h"\n')
        self.write("apps/halo/verify.h", "")
        self.write("apps/halo/verify.c", '#include "verify.h"\n')
        self.expect("check_layers.py")
        self.write("apps/halo/verify.c", '#include "verify.h"\n#include "grid.h"\n')
        self.expect("check_layers.py", "modules include one another: apps/halo/grid, apps/halo/verify")

    def test_python_modules_in_a_circle(self) -> None:
        self.write("python/marline/__init__.py", "")
        self.write("python/marline/trace/__init__.py", "")
        self.write("python/marline/trace/analysis.py", "from . import passes\nimport marline.errors\n")
        self.write("python/marline/trace/passes.py", "import os\n")
        self.write("python/marline/errors.py", "from marline.trace import passes\n")
        self.expect("check_layers.py")
        self.write("python/marline/trace/passes.py", "def late():\n    from ..trace.analysis import Analysis\n")
        self.expect("check_layers.py", "modules import one another: marline.errors, marline.trace.analysis, "
                                       "marline.trace.passes")

    def test_missing_file(self) -> None:
        self.write("runtime/sched/queue.hpp", '#include "sched/nothing.hpp"\n')
        self.expect("check_layers.py", "no such file")

    def test_nothing_to_check_is_no_success(self) -> None:
        for folder in ("runtime", "mpi"):
            shutil.rmtree(self.root / folder)
        (self.root / "runtime").mkdir()
        self.assertEqual(self.run_tool("check_layers.py").returncode, 1)


class Sizes(Tree):
    def test_at_the_limits(self) -> None:
        self.write("runtime/base/long.cpp", "int x;\n" * 540 + "void f() {\n" + body(60) + "}\n")
        self.expect("check_sizes.py")

    def test_file(self) -> None:
        self.write("runtime/base/long.cpp", "int x;\n" * 601)
        self.expect("check_sizes.py", "runtime/base/long.cpp: 601 lines")

    def test_function(self) -> None:
        self.write("runtime/base/f.cpp", "namespace a {\nvoid f(int x = 1) {\n" + body(61) + "}\n}\n")
        self.expect("check_sizes.py", "runtime/base/f.cpp:2: f has 61 lines")

    def test_function_after_braces_in_strings_comments_and_directives(self) -> None:
        noise = "#define OPEN {\nconst char* s = \"{\"; // {\n/* { */ char c = '{'; auto r = R\"({)\"; int n = 1'000;\n"
        self.write("runtime/base/f.cpp", noise + "class C {\n void g() const {\n" + body(61) + " }\n};\n")
        self.expect("check_sizes.py", "g has 61 lines")

    def test_constructor_with_braced_members(self) -> None:
        self.write("runtime/base/f.cpp", "C::C() : a_{1}, b_{2} {\n" + body(61) + "}\n")
        self.expect("check_sizes.py", "C::C has 61 lines")

    def test_table_of_values_is_no_function(self) -> None:
        table = "int table[f(3)] = {\n" + "  1,\n" * 100 + "};\n"
        aligned = "struct alignas(64) A {\n" + "int x;\n" * 99 + "};\n"
        self.write("runtime/base/t.cpp", table + "struct S {\n" + "int x;\n" * 99 + "};\n" + aligned)
        self.expect("check_sizes.py")

    def test_python(self) -> None:
        self.write("python/marline/x.py", "def f():\n" + "    pass\n" * 60)
        self.expect("check_sizes.py", "python/marline/x.py:1: f has 61 lines")


    def test_column(self) -> None:
        self.write("runtime/base/wide.hpp", "// " + 117 * "x" + "\n")
        self.write("cmake/x.cmake", "")
        self.expect("check_sizes.py")
        self.write("tests/CMakeLists.txt", "\n# " + 119 * "x" + "\n")
        self.expect("check_sizes.py", "tests/CMakeLists.txt:2: 121 columns")

    def test_merge(self) -> None:
        self.write("tools/x.sh", "a=1\n" + "<" * 7 + " HEAD\n")
        self.expect("check_sizes.py", "tools/x.sh:2: a conflict of a merge is left")

    def test_folder(self) -> None:
        for number in range(15):
            self.write(f"runtime/base/m{number}.hpp", "")
            self.write(f"runtime/base/m{number}.cpp", "")
            self.write(f"tests/programs/p{number}.c", "")
            self.write(f"tests/programs/q{number}.c", "")
        self.expect("check_sizes.py")
        self.write("runtime/base/one_more.cpp", "")
        self.expect("check_sizes.py", "runtime/base: 17 modules")


class Format(Tree):
    def test_clean(self) -> None:
        shutil.copy(TOOLS.parent / ".clang-format", self.root)
        self.write("runtime/base/f.cpp", "int f(int* x) { return *x; }\n")
        self.expect("check_format.py")
        self.write("tests/f.c", "int f(int *x)\n{ return *x; }\n")
        self.expect("check_format.py", "tests/f.c: not formatted")


class OptionsPage(Tree):
    ENTRY = '    {"OMP_X", "1", "a number "\n     "or two", "What | it is.",\n     read, show},\n'
    MPI_ENTRY = '    {"MARLINE_MPI_X", "off", "on or off", "What that is.", read_x},\n'
    TARGET_ENTRY = '    {"MARLINE_TARGET_X", "auto", "a list",\n     "Which.",},\n'
    TRACE_ENTRY = '    {"MARLINE_TRACE_X", "", "a size",\n     "Bytes."},\n'
    FOREIGN_ENTRY = '    {"KMP_X", "OMP_X", "one", "The same.", read_x},\n'
    NAME_ENTRY = '    {"KMP_Y", "0, off", "set OMP_X"},\n    {"KMP_Z", "", "nothing"}};\n'

    def setUp(self) -> None:
        super().setUp()
        self.write("runtime/config/foreign_table.cpp", self.FOREIGN_ENTRY)
        self.write("runtime/config/names.cpp", self.NAME_ENTRY)
        self.write("offload/base/options.cpp", self.TARGET_ENTRY)
        self.write("trace/base/options.cpp", self.TRACE_ENTRY)

    def test_page_follows_the_table(self) -> None:
        table = self.root / "runtime/config/option_table.cpp"
        self.write("runtime/config/option_table.cpp", self.ENTRY)
        self.write("mpi/base/options.cpp", self.MPI_ENTRY)
        self.assertEqual(self.run_tool("gen_options_doc.py", "--check").returncode, 1)
        self.assertEqual(self.run_tool("gen_options_doc.py").returncode, 0)
        page = (self.root / "docs/options.md").read_text()
        self.assertIn("| `OMP_X` | `1` | a number or two | What \\| it is. |", page)
        self.assertIn("| `MARLINE_MPI_X` | `off` | on or off | What that is. |", page)
        self.assertIn("| `MARLINE_TARGET_X` | `auto` | a list | Which. |", page)
        self.assertIn("| `MARLINE_TRACE_X` | (empty) | a size | Bytes. |", page)
        self.assertIn("| `KMP_X` | `OMP_X` | one | The same. |", page)
        names = (self.root / "common/option_names.hpp").read_text()
        own = [f'    "{name}",\n' for name in ("MARLINE_MPI_X", "MARLINE_TARGET_X", "MARLINE_TRACE_X", "OMP_X")]
        self.assertIn("".join(own) + "};", names)
        self.assertIn("| `KMP_Y` | `0, off` | set OMP_X |\n| `KMP_Z` |  | nothing |", page)
        self.assertEqual(self.run_tool("gen_options_doc.py", "--check").returncode, 0)
        table.write_text(self.ENTRY.replace('"1"', '"2"'))
        self.assertEqual(self.run_tool("gen_options_doc.py", "--check").returncode, 1)
        table.write_text(self.ENTRY)
        self.write("mpi/base/options.cpp", self.MPI_ENTRY.replace("off", "no"))
        self.assertEqual(self.run_tool("gen_options_doc.py", "--check").returncode, 1)

    def test_entry_that_is_not_understood(self) -> None:
        self.write("runtime/config/option_table.cpp", self.ENTRY + '    {"OMP_Y", kDefault, "b", "c",\n')
        self.write("mpi/base/options.cpp", self.MPI_ENTRY)
        self.assertNotEqual(self.run_tool("gen_options_doc.py").returncode, 0)


if __name__ == "__main__":
    unittest.main()
