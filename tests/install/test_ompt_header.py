# SPDX-License-Identifier: Apache-2.0
"""common/ompt.h says what LLVM's omp-tools.h says: the same values, the same members at the same places."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = (ROOT / "common" / "ompt.h").read_text()
COMPILER = "clang-19"
# The union of records has more members in LLVM's, and so another size.
PARTIAL = {"ompt_record_ompt_t"}


def sizes_and_places() -> list[str]:
    """Constant expressions, whatever the names are."""
    found = re.findall(r"^\s*(?:typedef enum \w+ \{)?[^/\n]*?\b(ompt_\w+) = ", OURS, re.MULTILINE)
    found += [name for line in re.findall(r"typedef enum \w+ \{(.+)\}", OURS) for name in re.findall(r"ompt_\w+", line)]
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)^\} \1;", OURS, re.MULTILINE | re.DOTALL):
        found += [] if name in PARTIAL else [f"sizeof({name})"]
        members = re.findall(r"(\w+);$|\(\*(\w+)\)\(", body, re.MULTILINE)
        found += [f"offsetof({name}, {member or pointer})" for member, pointer in members
                  if not (name in PARTIAL and member.startswith("target_") and member != "target_id")]  # fmt: skip
    return found


def answers(header: str, folder: Path) -> str:
    lines = [f'printf("%s %ld\\n", "{word}", (long)({word}));' for word in sizes_and_places()]
    source = folder / "values.c"
    source.write_text(f"#include <stddef.h>\n#include <stdio.h>\n#include {header}\nint main(void) {{\n"
                      + "\n".join(lines) + "\n}\n")  # fmt: skip
    subprocess.run([COMPILER, source, "-o", folder / "values"], check=True)
    return subprocess.run([folder / "values"], capture_output=True, text=True, check=True).stdout


@pytest.fixture(autouse=True)
def there_is_a_header():
    if shutil.which(COMPILER) is None:
        pytest.skip(f"{COMPILER} is not installed")


def test_values_sizes_and_places(tmp_path):
    ours = answers(f'"{ROOT}/common/ompt.h"', tmp_path)
    assert ours.count("\n") > 100
    assert ours == answers("<omp-tools.h>", tmp_path)
