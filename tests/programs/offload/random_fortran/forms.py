# SPDX-License-Identifier: Apache-2.0
"""The forms in which a construct has an object, a run of elements of which it maps lo to hi (model.f90)."""
from dataclasses import dataclass


@dataclass
class Form:
    declared: str = ""  # the dummy argument; nothing: it is a variable of the module
    passed: str = "host(o)%v"
    at: str = "a(i)"  # element i of the object
    section: str = "a(lo:hi)"
    whole: str = "a"
    only: str = "0"  # the one object that has this form
    exact: bool = True  # the variable is the object, no more and no less
    waits: bool = False  # before the subroutine returns: GCC's code keeps the array's bounds on the stack
    in_order: bool = False  # several sections that are not there attach one pointer to different data: a race
    component: bool = False
    dummy: str = "a"
    before: str = ""  # stands in front of the construct


MATRIX = {"at": "a(2 - mod(i, 2), (i + 1) / 2)", "section": "a(:, (lo + 1) / 2:hi / 2)"}
FROM_LOW = {"at": "a(low + i - 1)", "section": "a(low + lo - 1:low + hi - 1)"}
FROM_BOUND = {"at": "{0}(lbound({0}, 1) + i - 1)", "section": "{0}(lbound({0}, 1) + lo - 1:lbound({0}, 1) + hi - 1)"}


def of_bound(name):
    return {key: value.format(name) for key, value in FROM_BOUND.items()} | {"whole": name}


def of_variable(name, only, **more):
    return Form(at=f"{name}(i)", section=f"{name}(lo:hi)", whole=name, only=only, **more)


FORMS = {
    "explicit": Form("ELEMENT :: a(n)"),
    "from zero": Form("ELEMENT :: a(0:n - 1)", at="a(i - 1)", section="a(lo - 1:hi - 1)"),
    "low bound": Form("ELEMENT :: a(low:low + n - 1)", **FROM_LOW),
    "assumed size": Form("ELEMENT :: a(*)", exact=False),
    "matrix": Form("ELEMENT :: a(2, n / 2)", **MATRIX),
    "assumed size matrix": Form("ELEMENT :: a(2, *)", exact=False, **MATRIX),
    "assumed shape": Form("ELEMENT :: a(:)", waits=True),
    "assumed shape from low": Form("ELEMENT :: a(low:)", waits=True, **FROM_LOW),
    "contiguous": Form("ELEMENT, contiguous :: a(:)", waits=True),
    "assumed shape matrix": Form("ELEMENT :: a(:, :)", passed="square", waits=True, **MATRIX),
    "allocatable": Form("ELEMENT, allocatable :: a(:)", passed="grown", only="o_grown", **of_bound("a")),
    "pointer": Form("ELEMENT, pointer :: a(:)", passed="line", **FROM_LOW),
    "pointer matrix": Form("ELEMENT, pointer :: a(:, :)", passed="square", **MATRIX),
    "local pointer": Form("ELEMENT, target :: b(n)\nELEMENT, pointer :: a(:)", dummy="b", at="a(low + i - lo)",
                          section="a", before="a(low:) => b(lo:hi)\n", exact=False),
    "module array": of_variable("plain", "o_plain"),
    "module allocatable": Form(only="o_grown", **of_bound("grown")),
    "module pointer": of_variable("aimed", "o_aimed"),
    "component": of_variable("whole%f", "o_whole", component=True),
    "component of dummy": of_variable("a%f", "o_whole", component=True, declared="type(fixed_part) :: a",
                                      passed="whole"),
    "pointer component": of_variable("linked%p", "o_linked", component=True, in_order=True),
    "pointer component of dummy": of_variable("a%p", "o_linked", component=True, in_order=True,
                                              declared="type(pointer_part) :: a", passed="linked"),
}
