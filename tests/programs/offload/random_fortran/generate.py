#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a random Fortran target program: generate.py SEED FILE

The program has a number of operations, each a pair of subroutines: one draws an object and blocks of it, the other has
a construct that maps these in one of the forms that Fortran has for arrays (forms.py). Run as
`program FIRST LAST [STEPS [singly]]`, it draws for each of these seeds which operations follow each other,
and compares with the serial reference in model.f90.
"""
import random
import sys
from pathlib import Path

from forms import FORMS, Form

TYPES = {"integer(2)": "int(x, 2)", "integer(4)": "int(x, 4)", "integer(8)": "int(x, 8)", "real(4)": "real(x, 4)",
         "real(8)": "real(x, 8)"}
OPERATIONS = 14
LOOPS = ["", "", "parallel do", "teams distribute parallel do", "simd"]
DEPEND = "depend(inout: cell(c(1), o), cell(c(2), o), cell(c(3), o), cell(c(4), o))"
ALL_CELLS = "depend(inout: cell(1, o), cell(2, o), cell(3, o), cell(4, o))"
INSIDE = (".not. is_there(o, b1)",)  # regions of several sections of a form `in_order` then need no order
ARGUMENTS = ["n", "low", "lo", "hi", "salt", "o", "c"]


class Program:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.operations: list[str] = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def form(self, names=None) -> Form:
        return FORMS[self.pick(*(names or FORMS))]

    def put(self, text: str, indent: int = 4) -> None:
        self.lines += [" " * indent + line if line else "" for line in text.split("\n")]

    def construct(self, name, form, body, more=(), declared="integer :: i, k", without=()) -> None:
        """The subroutine with the construct. `more`: further arguments; `without`: these are local."""
        arguments = [one for one in ARGUMENTS if one not in without]
        dummies = ([form.dummy] if form.declared else []) + arguments + list(more)
        self.put(f"subroutine do_{name}({', '.join(dummies)})", 2)
        self.put("integer, intent(in) :: " + ", ".join(["c(blocks)" if one == "c" else one for one in arguments]))
        for text in (form.declared, declared, body):
            if text:
                self.put(text)
        self.put("end subroutine\n", 2)

    def operation(self, name, form, whole, steps, more=(), without=(), settles=False, unless=()) -> None:
        """The subroutine that draws. `unless`: when it does nothing, one by one."""
        self.operations.append(name)
        self.put(f"subroutine {name}()", 2)
        self.put("integer :: o, b1, b2, lo, hi, low, salt, c(blocks), k, q, c1, c2")
        self.put("ELEMENT, pointer :: line(:), square(:, :)")
        if whole:
            self.put(f"if (.not. choose_all({form.only}, o)) return\nb1 = 1\nb2 = blocks")
        else:
            self.put(f"if (.not. choose({form.only}, o, b1, b2)) return")
        for one in unless:
            self.put(f"if ({one}) return")
        self.put("lo = begin_of(o, b1)\nhi = end_of(o, b2)\nlow = draw(7) - 3\nsalt = draw(1000)\nc = cells(b1, b2)")
        self.put("line(low:) => host(o)%v\nsquare(1:2, 1:length(o) / 2) => host(o)%v")
        self.put(f"call note('{name}', o, b1, b2)")
        if settles:
            self.put("!$omp taskwait")
        given = {"n": "length(o)"}
        passed = [form.passed] if form.declared else []
        passed += [given.get(one, one) for one in ARGUMENTS if one not in without] + list(more)
        self.put(f"call do_{name}({', '.join(passed)})")
        self.put(steps)
        self.put("end subroutine\n", 2)


def logical(value) -> str:
    return ".true." if value else ".false."


def kernel(p: Program, form: Form, clauses: str, fills=False, salt="salt", value=None) -> str:
    """gfortran 12 loses `depend` and `has_device_addr` on a combined construct. One with simd maps the loop's variable,
    which is gone when the subroutine returns."""
    loop = p.pick(*LOOPS)
    is_combined = loop and "depend" not in clauses and "addr" not in clauses and p.pick(True, True, False)
    value = value or (f"fresh(i, {salt})" if fills else f"next({form.at}, i, {salt})")
    teams = p.pick("", " num_teams(2)") if "teams" in loop else ""
    more = "" if is_combined else p.pick(" private(i)", "")
    if salt == "salt" and "lo" not in form.at.replace("low", "") and not form.before:
        more += p.pick(" firstprivate(lo, hi, salt)", "")
    body = f"do i = lo, hi\n  {form.at} = {value}\nend do"
    if is_combined:
        return f"{form.before}!$omp target {loop} {clauses}{teams}{more}\n{body}\n!$omp end target {loop}"
    if loop:
        body = f"!$omp {loop}{teams}\n{body}\n!$omp end {loop}"
    return f"{form.before}!$omp target {clauses}{more}\n{body}\n!$omp end target"


def map_clause(p: Program, form: Form, whole):
    """The clause, and the arguments of the reference: it brings, takes, always; all elements get a new value."""
    item, is_implicit = form.section, False
    if whole and form.exact:
        item = p.pick(form.section, form.whole)
        is_implicit = not form.component and p.pick(False, False, True)
    if is_implicit:
        return "", (True, True, False), False
    kind = p.pick("tofrom", "tofrom", "tofrom", "from", "to", "always, tofrom")
    fills = kind == "from" or p.pick(False, False, False, True)
    return f"map({kind}: {item})", (kind != "from", kind != "to", kind.startswith("always")), fills


def region(p: Program, name: str) -> None:
    """One region: at once, deferred, in a task, or with nothing else under way."""
    form, whole = p.form(), p.pick(False, True)
    clause, moves, fills = map_clause(p, form, whole)
    is_inside = form.in_order and p.pick(False, True)
    cells = ALL_CELLS if form.in_order and not is_inside else DEPEND
    how = p.pick("nowait", "nowait", "nowait", "at once", "task", "alone")
    clauses = {"nowait": f"nowait {cells} ", "at once": f"{cells} ", "task": "", "alone": "nowait "}[how] + clause
    copies = p.pick(False, False, True) and how != "task"
    body = kernel(p, form, clauses + (" firstprivate(t)" if copies else ""), fills, "t(3)" if copies else "salt")
    declared = "integer :: i" + (", t(4)" if copies else "")
    if copies:
        body = f"t = salt\n{body}\nt = -1"
    if how == "task":
        body = f"!$omp task default(shared) {cells}\n{body}\n!$omp end task\n!$omp taskwait"
    elif how == "alone" or form.waits:
        body += "\n!$omp taskwait"
    p.construct(name, form, body, declared=declared)
    arguments = ", ".join(map(logical, (*moves, fills)))
    p.operation(name, form, whole, f"call refer_region(o, b1, b2, {arguments}, salt)", settles=how == "alone",
                unless=INSIDE if is_inside else ())


def blocked(p: Program, name: str) -> None:
    """The ordinary blocked loop: a deferred region for each block."""
    form = p.form()
    always = p.pick(False, False, True)
    alone = p.pick(False, False, True)
    order = "" if alone else "depend(inout: cell(k, o)) "
    clauses = f"nowait {order}map({'always, ' if always else ''}tofrom: {form.section})"
    waits = alone or form.waits or p.pick(False, True)
    body = (f"do k = c(1), c(blocks)\n  lo = begin_of(o, k)\n  hi = end_of(o, k)\n"
            f"{kernel(p, form, clauses)}\nend do")
    if waits:
        body += "\n!$omp taskwait"
    p.construct(name, form, body, declared="integer :: i, k, lo, hi", without=("lo", "hi"))
    reference = f"call refer_region(o, k, k, .true., .true., {logical(always)}, .false., salt)"
    p.operation(name, form, False, f"do k = b1, b2\n  {reference}\nend do", without=("lo", "hi"), settles=alone,
                unless=INSIDE if form.in_order else ())


def two(p: Program, name: str) -> None:
    """Also reads blocks of another object."""
    form = p.form()
    other = p.pick("r(m)", "r(*)", "r(:)")
    reads = p.pick("in", "inout")
    of_other = f"depend({reads}: cell(e(1), q), cell(e(2), q), cell(e(3), q), cell(e(4), q))"
    clauses = f"nowait {DEPEND} {of_other} map(tofrom: {form.section}) map(to: r(lo2:hi2))"
    waits = form.waits or other == "r(:)"
    body = kernel(p, form, clauses, value="next(r(lo2 + mod(i, hi2 - lo2 + 1)), i, salt)")
    if waits:
        body += "\n!$omp taskwait"
    declared = f"integer, intent(in) :: m, lo2, hi2, q, e(blocks)\nELEMENT :: {other}\ninteger :: i"
    p.construct(name, form, body, more=("r", "m", "lo2", "hi2", "q", "e"), declared=declared)
    unless = [*(INSIDE if form.in_order else ()), ".not. choose(0, q, c1, c2)", "q == o"]
    unless += [".not. is_there(q, c1)"] if reads == "in" else []
    p.operation(name, form, False, "call refer_two(o, b1, b2, q, c1, c2, salt)", unless=unless,
                more=("host(q)%v", "length(q)", "begin_of(q, c1)", "end_of(q, c2)", "q", "cells(c1, c2)"))


def enter(p: Program, name: str) -> None:
    """And the exit of the same, by any form that there is for it."""
    form = p.form([key for key in FORMS if key != "local pointer"])
    whole = p.pick(False, True)
    item = p.pick(form.section, form.whole) if whole and form.exact else form.section
    waits = "\n!$omp taskwait" if form.waits else ""
    nowait = p.pick("nowait ", "")
    p.construct(name, form, f"!$omp target enter data map(to: {item}) {nowait}{ALL_CELLS}{waits}")
    p.operation(name, form, whole, "call refer_begin(o, b1, b2, .true., .false.)\nfirst(o) = b1\nlast(o) = b2\n"
                f"through_component(o) = {logical(form.component)}", unless=["first(o) /= 0"])


def leave(p: Program, name: str) -> None:
    form = p.form([key for key in FORMS if key != "local pointer"])
    kind = p.pick("from", "from", "release", "delete")
    nowait = p.pick("nowait ", "")
    waits = "\n!$omp taskwait" if form.waits else ""
    p.construct(name, form, f"!$omp target exit data map({kind}: {form.section}) {nowait}{ALL_CELLS}{waits}")
    unless = f"b1 /= first(o) .or. b2 /= last(o) .or. (through_component(o) .neqv. {logical(form.component)})"
    reference = f"call refer_end(o, b1, b2, {logical(kind == 'from')}, .true.)"
    p.operation(name, form, False, f"{reference}\nfirst(o) = 0\nlast(o) = 0", unless=[unless])


def update(p: Program, name: str) -> None:
    """GCC 12 does not take components."""
    form = p.form([key for key, one in FORMS.items() if key != "local pointer" and not one.component])
    way = p.pick("to", "from")
    nowait = p.pick("nowait ", "")
    waits = "\n!$omp taskwait" if form.waits else ""
    p.construct(name, form, f"!$omp target update {way}({form.section}) {nowait}{DEPEND}{waits}")
    steps = {"to": "refer_begin(o, b1, b2, .true., .true.)", "from": "refer_end(o, b1, b2, .true., .true.)"}[way]
    p.operation(name, form, False, f"if (is_there(o, b1)) call {steps}")


def data(p: Program, name: str) -> None:
    """A data region with deferred regions inside, of blocks or of all."""
    form = p.form([key for key in FORMS if key != "local pointer"])
    inner = kernel(p, form, f"nowait depend(inout: cell(k, o)) map(tofrom: {form.section})")
    outer = form.section.replace("lo", "lo1").replace("lo1w", "low").replace("lo1b", "lob").replace("hi", "hi1")
    body = (f"lo1 = begin_of(o, c(1))\nhi1 = end_of(o, c(blocks))\n!$omp target data map(tofrom: {outer})\n"
            f"do k = c(1), c(blocks)\n  lo = begin_of(o, k)\n  hi = end_of(o, k)\n{inner}\nend do\n!$omp taskwait\n"
            "!$omp end target data")
    p.construct(name, form, body, declared="integer :: i, k, lo, hi, lo1, hi1", without=("lo", "hi"))
    p.operation(name, form, False, "call refer_region(o, b1, b2, .true., .true., .false., .false., salt)", settles=True,
                without=("lo", "hi"))


def addresses(p: Program, name: str) -> None:
    """A region that gets the device's address."""
    form = FORMS[p.pick("explicit", "low bound", "matrix")]
    inner = kernel(p, form, "has_device_addr(a)")
    body = (f"!$omp target data map(tofrom: a)\n!$omp target data use_device_addr(a)\n{inner}\n!$omp end target data\n"
            "!$omp end target data")
    p.construct(name, form, body)
    p.operation(name, form, True, "call refer_region(o, b1, b2, .true., .true., .false., .false., salt)", settles=True)


def on_host(p: Program, name: str) -> None:
    form = FORMS["explicit"]
    p.construct(name, form, f"!$omp task {DEPEND} firstprivate(lo, hi, salt) private(i)\ndo i = lo, hi\n"
                "  host(o)%v(i) = next(host(o)%v(i), i, salt)\nend do\n!$omp end task\n" + p.pick("!$omp taskwait", ""))
    p.operation(name, form, False, "do k = lo, hi\n  h(k, o) = next(h(k, o), k, salt)\nend do")


def scalar(p: Program, name: str) -> None:
    """Scalars that are allocatable or pointers, of the module or dummies; and optional arguments that are absent."""
    k, variable, declared = p.pick((1, "lone", "allocatable"), (2, "sole", "pointer"))
    what, passed = p.pick((variable, False), ("s", True))
    wait = f"depend(inout: scalar_cell({k}))"
    absent = p.pick("", "absent", "more")
    clause = p.pick(f"map(tofrom: {what})", "") + {"absent": " map(tofrom: absent)", "more": ""}.get(absent, "")
    p.put(f"subroutine do_{name}({'s, ' if passed else ''}salt, absent, more)", 2)
    p.put("integer, intent(in) :: salt\nELEMENT, optional :: absent, more(:)")
    if passed:
        p.put(f"ELEMENT, {declared} :: s")
    p.put(f"!$omp target nowait {clause} {wait}\n{what} = next({what}, {k}, salt)")
    if absent:
        p.put(f"if (present({absent})) {what} = {what} + 1")
    p.put("!$omp end target")
    if absent == "more":
        p.put("!$omp taskwait")
    p.put("end subroutine\n", 2)
    p.operations.append(name)
    p.put(f"subroutine {name}()\n  integer :: salt\n  salt = draw(1000)\n  call note('{name}', 0, 0, 0)", 2)
    p.put(f"call do_{name}({variable + ', ' if passed else ''}salt)\ncall refer_scalar({k}, salt)")
    p.put("end subroutine\n", 2)


def scalar_data(p: Program, name: str) -> None:
    k, variable = p.pick((1, "lone"), (2, "sole"))
    p.operations.append(name)
    p.put(f"subroutine {name}()\n  call note('{name}', 0, 0, 0)", 2)
    p.put(f"if (scalar_is_there({k})) then\n"
          f"  !$omp target exit data map(from: {variable}) nowait depend(inout: scalar_cell({k}))\n"
          f"  h_scalar({k}) = d_scalar({k})\nelse\n"
          f"  !$omp target enter data map(to: {variable}) nowait depend(inout: scalar_cell({k}))\n"
          f"  d_scalar({k}) = h_scalar({k})\nend if\nscalar_is_there({k}) = .not. scalar_is_there({k})")
    p.put("end subroutine\n", 2)


def text(p: Program, name: str) -> None:
    """Complete in itself."""
    declared, at = p.pick(("character(len=*)", "text"), ("character(len=n)", "text"))
    p.put(f"subroutine do_{name}(text, n, lo, hi)\n  integer, intent(in) :: n, lo, hi\n  {declared} :: text", 2)
    p.put(f"integer :: i\n!$omp target nowait {p.pick('map(tofrom: text)', '')}\ndo i = lo, hi\n"
          f"  {at}(i:i) = char(ichar({at}(i:i)) + 1)\nend do\n!$omp end target\n!$omp taskwait")
    p.put("end subroutine\n", 2)
    p.operations.append(name)
    p.put(f"subroutine {name}()\n  character(len=12) :: fixed\n  character(len=:), allocatable :: some", 2)
    p.put(f"integer :: hi\nhi = 1 + draw(12)\ncall note('{name}', 0, 0, 0)\nfixed = 'abcdefghijkl'\nsome = fixed\n"
          f"call do_{name}(fixed, 12, 1, hi)\ncall do_{name}(some, 12, hi, 12)\n"
          "if (fixed(:hi) /= 'bcdefghijklm'(:hi) .or. some(hi:) /= 'bcdefghijklm'(hi:)) call wrong('text', 0)")
    p.put("end subroutine\n", 2)


def assorted(p: Program, name: str) -> None:
    """Some components of a structure, which is a dummy argument or not. Complete in itself."""
    parts = ["x%n", "x%sole", "x%a", "x%p", "x%f(2:3)"]
    chosen = p.random.sample(parts, p.pick(1, 2, 3, 5))
    is_dummy = p.pick(True, False)
    work = "\n".join(f"{one} = {one} + CONVERT(salt)" for one in chosen)
    body = (f"!$omp target nowait map(tofrom: {', '.join(chosen)})\n{work}\n!$omp end target\n!$omp taskwait")
    if is_dummy:
        p.put(f"subroutine do_{name}(x, salt)\n  type(assorted_parts) :: x\n  integer, intent(in) :: salt", 2)
        p.put(body)
        p.put("end subroutine\n", 2)
    p.operations.append(name)
    p.put(f"subroutine {name}()\n  type(assorted_parts) :: x\n  integer :: salt", 2)
    p.put(f"salt = draw(1000)\ncall note('{name}', 0, 0, 0)\nallocate(x%sole, x%a(3), x%p(4))\n"
          "x%n = 1\nx%sole = 2\nx%a = 3\nx%p = 4\nx%f = 5")
    p.put(f"call do_{name}(x, salt)" if is_dummy else body)
    for one, begin in zip(parts, range(1, 6)):
        expected = f"CONVERT({begin} + salt)" if one in chosen else f"CONVERT({begin})"
        value = one if one in ("x%n", "x%sole") else f"{one.split('(')[0]}(2)"
        p.put(f"if ({value} /= {expected}) call wrong('{one}', 0)")
    p.put("deallocate(x%sole, x%a, x%p)")
    p.put("end subroutine\n", 2)


def renewed(p: Program, name: str) -> None:
    """The structure is mapped while its component gets another target, with other bounds. Complete in itself."""
    is_dummy = p.pick(True, False)
    wait = p.pick("", "nowait ")
    maps, value = p.pick(("tofrom", "x%p(i) + CONVERT(salt)"), ("from", "CONVERT(salt + i)"))
    body = (f"!$omp target {wait}map({maps}: x%p(lo:hi))\ndo i = lo, hi\n  x%p(i) = {value}\nend do\n!$omp end target\n"
            "!$omp taskwait")
    if is_dummy:
        p.put(f"subroutine do_{name}(x, lo, hi, salt)\n  type(assorted_parts) :: x", 2)
        p.put(f"integer, intent(in) :: lo, hi, salt\ninteger :: i\n{body}")
        p.put("end subroutine\n", 2)
    p.operations.append(name)
    enter, leave = p.pick(("target enter data map(to: x)", "target exit data map(release: x)"),
                          ("target data map(to: x)", "end target data"))
    p.put(f"subroutine {name}()\n  type(assorted_parts) :: x\n  ELEMENT, target :: v(12)\n"
          "  integer :: i, k, at, lo, hi, low, salt", 2)
    p.put(f"call note('{name}', 0, 0, 0)\nx%n = 1\n!$omp {enter}\ndo k = 1, 4\n  at = draw(7)\n  low = draw(9) - 4\n"
          "  x%p(low:low + 11 - at) => v(at + 1:)\n  lo = low + draw(3)\n  hi = lo + draw(3)\n  salt = draw(100)\n"
          "  v = [(CONVERT(i), i = 1, 12)]")
    p.put(f"call do_{name}(x, lo, hi, salt)" if is_dummy else body, 6)
    expected = "CONVERT(i + salt)" if maps == "tofrom" else "CONVERT(salt + i - at - 1 + low)"
    p.put("do i = 1, 12", 6)
    p.put("if (i >= at + 1 + lo - low .and. i <= at + 1 + hi - low) then\n"
          f"  if (v(i) /= {expected}) call wrong('x%p', 0)\nelse if (v(i) /= CONVERT(i)) then\n"
          "  call wrong('beside x%p', 0)\nend if", 8)
    p.put(f"  end do\nend do\n!$omp {leave}")
    p.put("end subroutine\n", 2)


KINDS = [region] * 8 + [blocked] * 5 + [two] * 3 + [enter] * 3 + [leave] * 2 + [update] * 3 + [data] * 2 + [
    addresses, on_host, scalar, scalar, scalar_data, text, assorted, assorted, assorted, renewed, renewed]

MAIN = """
program random_fortran
  use operations
  implicit none
  character(12) :: word
  integer :: from, to
  call get_command_argument(1, word)
  read (word, *) from
  call get_command_argument(2, word)
  read (word, *) to
  if (command_argument_count() > 2) then
    call get_command_argument(3, word)
    read (word, *) steps
  end if
  singly = command_argument_count() > 3
  do seed = from, to
    state = 1000 + 7919 * seed
    call begin_objects()
    if (mod(seed, 4) == 0) then
      call run_steps()
    else
      !$omp parallel
      !$omp single
      call run_steps()
      !$omp end single
      !$omp end parallel
    end if
    !$omp taskwait
    call end_objects()
  end do
end program"""


def program(seed: int) -> str:
    p = Program(seed)
    element = p.pick(*TYPES)
    p.put(f"! Made by generate.py {seed}.\n#define ELEMENT {element}\n#define CONVERT(x) {TYPES[element]}", 0)
    p.put('#include "model.f90"\n\nmodule operations\n  use model\n  implicit none\ncontains\n', 0)
    kinds = [enter, leave, blocked] + [p.pick(*KINDS) for _ in range(OPERATIONS - 3)]
    for i, kind in enumerate(kinds):
        kind(p, f"{kind.__name__}_{i + 1}")
    p.put("subroutine run_steps()\n  integer :: k\n  do k = 1, steps\n    select case (1 + draw("
          f"{len(p.operations)}))", 2)
    for i, name in enumerate(p.operations):
        p.put(f"case ({i + 1}); call {name}()")
    p.put("  end select\n  end do\n  !$omp taskwait\nend subroutine", 2)
    p.put("end module", 0)
    p.put(MAIN.strip("\n"), 0)
    return "\n".join(p.lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(program(int(sys.argv[1])))
