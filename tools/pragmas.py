# SPDX-License-Identifier: Apache-2.0
"""The OpenMP directives in a source of C, C++ or Fortran, well enough to tell which constructs and clauses it uses:
directives in macros and under conditional compilation count, comments are not told from code."""
from __future__ import annotations

import re
from dataclasses import dataclass

# Words that make up a directive's name; what comes after the last of them are clauses and arguments.
NAMES = set(
    "parallel for sections section single master masked scope workshare loop simd distribute teams target data enter "
    "exit update task taskloop taskgroup taskwait taskyield depobj critical barrier atomic flush ordered scan cancel "
    "cancellation point threadprivate declare mapper reduction variant begin end allocate allocators requires interop "
    "dispatch metadirective assumes assume nothing error tile unroll".split())
# Words that are clauses except at the beginning of a directive.
FIRST_ONLY = {"ordered", "update", "nothing", "simd", "for", "sections", "parallel", "taskgroup", "reduction", "error"}
# ... of which these may follow another construct's name, in a combined construct.
COMBINED = {"parallel": {"teams", "distribute", "target"},
            "for": {"parallel"},
            "sections": {"parallel"},
            "simd": {"for", "taskloop", "distribute", "declare", "loop", "target"},
            "update": {"target"},
            "reduction": {"declare"}}  # fmt: skip
C_DIRECTIVE = re.compile(r'#\s*pragma\s+omp\s+(.*)|_Pragma\(\s*"omp ([^"]*)"|[(,]\s*omp\s+([a-z].*)')
FORTRAN_DIRECTIVE = re.compile(r"^\s*!\$omp\s+(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Pragma:
    name: tuple[str, ...]  # ("parallel", "for")
    rest: str  # clauses and arguments

    def has(self, directive: str, clause: str) -> bool:
        words = tuple(directive.split())
        if len(words) > 1 and words[0] not in ("declare", "begin", "cancellation", "target", "distribute"):
            fits = self.name == words or self.name[: len(words)] == words
        else:
            fits = any(self.name[i : i + len(words)] == words for i in range(len(self.name)))
        return fits and (not clause or self.has_clause(clause))

    def has_clause(self, clause: str) -> bool:
        base, colon, modifier = clause.partition(":")
        if not colon:
            word = "for|do" if base == "for" else base
            return re.search(rf"\b({word})\b", self.rest) is not None
        return any(re.search(rf"(?<![\w.]){modifier}\b", argument) for argument in arguments_of(base, self.rest))


def arguments_of(clause: str, text: str) -> list[str]:
    """What stands in the brackets of a clause, each time it is there."""
    found = []
    for match in re.finditer(rf"\b{clause}\s*\(", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found.append(text[match.end() : end])
    return found


def split_name(text: str) -> Pragma:
    words: list[str] = []
    rest = text
    while match := re.match(r"\s*([a-z]+)\b(.*)", rest, re.DOTALL):
        word = "for" if match[1] == "do" else match[1]
        follows = COMBINED.get(word, set())
        if word not in NAMES or (words and word in FIRST_ONLY and words[-1] not in follows):
            break
        words.append(word)
        rest = match[2]
    return Pragma(tuple(words), rest)


def pragmas_of(text: str) -> list[Pragma]:
    c = re.sub(r"\\\n", " ", text)
    fortran = re.sub(r"&[ \t]*\n\s*!\$omp\s*&?", " ", text, flags=re.IGNORECASE)
    found = [next(filter(None, groups)) for groups in C_DIRECTIVE.findall(c)]
    found += [match[1].lower() for line in fortran.splitlines() if (match := FORTRAN_DIRECTIVE.match(line))]
    return [split_name(directive) for directive in found]
