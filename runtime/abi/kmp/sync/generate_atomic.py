# SPDX-License-Identifier: Apache-2.0
"""Writes the entry points __kmpc_atomic_* from atomic.def.

    generate_atomic.py TABLE SOURCE

TABLE says which there are, SOURCE is the C++ file to write; atomic.hpp has the bodies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

WHERE = "Ident*, int32_t"  # the construct's place in the source and the thread's number, both unused
BY_POINTER = {"cmplx4"}  # results of these types are captured through a pointer, where other types return them
WORDS = {"1": "int8_t", "2": "int16_t", "4": "int32_t", "8": "int64_t"}  # sizes that the processor has instructions for

HEAD = """// Generated from runtime/abi/kmp/sync/atomic.def.
#include "abi/kmp/sync/atomic.hpp"

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {
"""
TAIL = """
}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
"""


def function(result: str, name: str, parameters: str, body: str) -> str:
    return f"{result} __kmpc_atomic_{name}({WHERE}, {parameters}) {{ {body}; }}"


def result_function(name: str, kind: str, cpp: str, parameters: str, value: str, last: str = "") -> str:
    """A function that gives a value of the type `kind`, which is `cpp` in C++. `last` is its last parameter."""
    if kind in BY_POINTER:
        return function("void", name, f"{parameters}, {cpp}* captured{last}", f"*captured = {value}")
    return function(cpp, name, parameters + last, f"return {value}")


def operation(types: dict[str, str], kind: str, form: str, name: str) -> str:
    cpp = types[kind]
    applied = name.capitalize()
    parameters = f"{cpp}* x, {cpp} y"
    if form == "plain":
        return function("void", f"{kind}_{name}", parameters, f"update<{applied}>(x, y)")
    if form in types:
        return function("void", f"{kind}_{name}_{form}", f"{cpp}* x, {types[form]} y", f"update<{applied}>(x, y)")
    if form.endswith("rev"):
        applied = f"Reversed<{applied}>"
    if form == "rev":
        return function("void", f"{kind}_{name}_rev", parameters, f"update<{applied}>(x, y)")
    value = f"capture<{applied}>(x, y, after)"
    return result_function(f"{kind}_{name}_{form}", kind, cpp, parameters, value, ", int32_t after")


def access(kind: str, cpp: str, form: str) -> str:
    if form == "rd":
        return function(cpp, f"{kind}_rd", f"{cpp}* x", "return atomic_read(x)")
    if form == "wr":
        return function("void", f"{kind}_wr", f"{cpp}* x, {cpp} y", "atomic_exchange(x, y)")
    return result_function(f"{kind}_swp", kind, cpp, f"{cpp}* x, {cpp} y", "atomic_exchange(x, y)")


def comparison(size: str, form: str, kind: str) -> str:
    word = WORDS[size]
    result, called = ("bool", "compare_bool") if kind == "bool" else (word, "compare_value")
    parameters, arguments = f"{word}* x, {word} expected, {word} desired", "x, expected, desired"
    if form == "cas_cpt":
        parameters, arguments = f"{parameters}, {word}* captured", f"{arguments}, captured"
    return function(result, f"{kind}_{size}_{form}", parameters, f"return {called}({arguments})")


def combination(size: str) -> str:
    called = f"combine_word<{WORDS[size]}>" if size in WORDS else "combine_locked"
    return function("void", size, "void* x, void* y, Combine* combine", f"{called}(x, y, combine)")


def entry_points(table: str) -> Iterator[str]:
    types: dict[str, str] = {}
    for line in table.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        fields = [field.split() for field in " ".join(words[1:]).split(":")]
        wanted = {"operations": 3, "accesses": 2, "comparisons": 3}.get(words[0], 1)
        if len(fields) != wanted:
            sys.exit(f"atomic.def: expected {wanted} fields: {line}")
        if words[0] == "type":
            types[words[1]] = " ".join(words[2:])
        elif words[0] == "operations":
            yield from (operation(types, k, f, n) for k in fields[0] for f in fields[1] for n in fields[2])
        elif words[0] == "accesses":
            yield from (access(k, types[k], f) for k in fields[0] for f in fields[1])
        elif words[0] == "comparisons":
            yield from (comparison(s, f, k) for s in fields[0] for f in fields[1] for k in fields[2])
        elif words[0] == "functions":
            yield from (combination(s) for s in fields[0])
        else:
            sys.exit(f"atomic.def: no such kind of line: {line}")


def main() -> None:
    table, source = (Path(argument) for argument in sys.argv[1:3])
    source.write_text("\n".join([HEAD, *entry_points(table.read_text()), TAIL]))


if __name__ == "__main__":
    main()
