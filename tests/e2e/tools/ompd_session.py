# SPDX-License-Identifier: Apache-2.0
"""Run by GDB: a small debugger on top of OMPD. It loads the library that the process names, calls it through ctypes
with callbacks on GDB's memory of the process, and prints what it learns as a line "FACTS {...}".

    gdb -batch -ex "source ompd_session.py" PROGRAM [CORE]       DUMP_AT=4 DUMP=FILE: writes a core file at that stop"""

import contextlib
import ctypes
import json
import os
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_uint8, c_uint64, c_void_p
from typing import Any

import gdb

OK, UNAVAILABLE, READ_ERROR, INCOMPLETE = 0, 1, 8, 11  # ompd_rc_t
ADDRESS_SPACE, THREAD, PARALLEL, TASK = 2, 3, 4, 6  # ompd_scope_t
PTHREAD, LWP = 0, 1  # ompd_thread_id_t
UNDEFINED_STATE = 0x102
CONTEXT = 42  # of the process; any value


class Address(ctypes.Structure):
    _fields_ = [("segment", c_uint64), ("address", c_uint64)]


class FrameInfo(ctypes.Structure):
    _fields_ = [("address", Address), ("flag", c_int64)]


READ = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Address), c_uint64, c_void_p)
CONVERT = CFUNCTYPE(c_int, c_void_p, c_void_p, c_uint64, c_uint64, c_void_p)


class Callbacks(ctypes.Structure):
    _fields_ = [("alloc", CFUNCTYPE(c_int, c_uint64, POINTER(c_void_p))), ("free", CFUNCTYPE(c_int, c_void_p)),
                ("print", c_void_p), ("sizes", CFUNCTYPE(c_int, c_void_p, POINTER(c_uint8 * 6))),
                ("symbol", CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, POINTER(Address), c_char_p)),
                ("read", READ), ("write", c_void_p), ("read_string", READ), ("to_host", CONVERT),
                ("from_host", CONVERT), ("thread_context", c_void_p)]  # fmt: skip


blocks: dict[int, Any] = {}  # what the library has allocated and not freed


def allocate(size: int, result: Any) -> int:
    block = ctypes.create_string_buffer(size)
    blocks[ctypes.addressof(block)] = block
    result[0] = ctypes.addressof(block)
    return OK


def free(address: int) -> int:
    del blocks[address]  # a block that is freed twice ends in an exception, which GDB prints
    return OK


def sizes(_context: int, result: Any) -> int:
    result[0][:] = [1, 2, 4, 8, 8, 8]
    return OK


def symbol(_context: int, _thread: int, name: bytes, result: Any, _file: bytes) -> int:
    try:
        result[0].address = int(gdb.parse_and_eval(f"(unsigned long) &{name.decode()}"))
    except gdb.error:
        return UNAVAILABLE
    return OK


def read(_context: int, _thread: int, address: Any, size: int, result: int) -> int:
    try:
        ctypes.memmove(result, bytes(gdb.selected_inferior().read_memory(address[0].address, size)), size)
    except gdb.MemoryError:
        return READ_ERROR
    return OK


def read_string(_context: int, _thread: int, address: Any, size: int, result: int) -> int:
    text = b""
    while len(text) < size - 1:
        one = bytes(gdb.selected_inferior().read_memory(address[0].address + len(text), 1))
        if one == b"\0":
            ctypes.memmove(result, text + one, len(text) + 1)
            return OK
        text += one
    ctypes.memmove(result, text + b"\0", size)
    return INCOMPLETE


def convert(_context: int, source: int, unit: int, count: int, target: int) -> int:
    ctypes.memmove(target, source, unit * count)
    return OK


class Refused(Exception):
    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} returned {code}")
        self.code = code


class Library:
    """The functions of libompd. Handles are numbers, as the library gives them."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        fields = {name: kind for name, kind in Callbacks._fields_}
        functions = {"alloc": allocate, "free": free, "sizes": sizes, "symbol": symbol, "read": read,
                     "read_string": read_string, "to_host": convert, "from_host": convert}  # fmt: skip
        self.callbacks = Callbacks(**{name: fields[name](function) for name, function in functions.items()})
        self.call("ompd_initialize", c_int64(201811), byref(self.callbacks))
        self.space = self.handle("ompd_process_initialize", c_void_p(CONTEXT))
        self.states = dict(self.all_states())
        self.icvs = dict(self.all_icvs())

    def call(self, name: str, *arguments: Any) -> None:
        code = self.library[name](*arguments)
        if code != OK:
            raise Refused(name, code)

    def handle(self, name: str, *arguments: Any) -> c_void_p:
        result = c_void_p()
        self.call(name, *arguments, byref(result))
        return result

    def maybe(self, name: str, *arguments: Any) -> c_void_p | None:
        try:
            return self.handle(name, *arguments)
        except Refused as refused:
            if refused.code != UNAVAILABLE:
                raise
            return None

    def word(self, name: str, *arguments: Any) -> int:
        result = c_int64()
        self.call(name, *arguments, byref(result))
        return result.value

    def taken(self, text: c_char_p) -> str:
        """A text that the library has allocated for us."""
        value = (text.value or b"").decode()
        free(ctypes.cast(text, c_void_p).value or 0)
        return value

    def all_states(self) -> Any:
        state, more = UNDEFINED_STATE, c_int64(1)
        while more.value:
            after, name = c_int64(), c_char_p()
            self.call("ompd_enumerate_states", self.space, c_int64(state), byref(after), byref(name), byref(more))
            state = after.value
            yield state, self.taken(name)

    def all_icvs(self) -> Any:
        icv, more = 0, c_int(1)
        while more.value:
            after, name, scope = c_uint64(), c_char_p(), c_int()
            self.call("ompd_enumerate_icvs", self.space, c_uint64(icv), byref(after), byref(name), byref(scope),
                      byref(more))  # fmt: skip
            icv = after.value
            yield self.taken(name), (icv, scope.value)

    def icv(self, name: str, handle: c_void_p) -> int:
        icv, scope = self.icvs[name]
        return self.word("ompd_get_icv_from_scope", handle, c_int(scope), c_uint64(icv))

    def icv_text(self, name: str, handle: c_void_p) -> str:
        icv, scope = self.icvs[name]
        text = c_char_p()
        self.call("ompd_get_icv_string_from_scope", handle, c_int(scope), c_uint64(icv), byref(text))
        return self.taken(text)

    def thread(self, kind: int, number: int) -> c_void_p | None:
        return self.maybe("ompd_get_thread_handle", self.space, c_uint64(kind), c_uint64(8), byref(c_uint64(number)))

    def thread_id(self, thread: c_void_p, kind: int) -> int:
        number = c_uint64()
        self.call("ompd_get_thread_id", thread, c_uint64(kind), c_uint64(8), byref(number))
        return number.value

    def state(self, thread: c_void_p) -> str:
        state, wait = c_int64(), c_uint64()
        self.call("ompd_get_state", thread, byref(state), byref(wait))
        return self.states[state.value]

    def equal(self, kind: str, one: c_void_p, other: c_void_p) -> bool:
        result = c_int()
        self.call(f"ompd_{kind}_handle_compare", one, other, byref(result))
        return result.value == 0


class Session:
    def __init__(self) -> None:
        locations = gdb.parse_and_eval("*(char***) &ompd_dll_locations")
        self.path = locations[0].string()
        self.library = Library(self.path)

    def code(self, task: c_void_p) -> list[int] | None:
        """Where the task's code begins: its address and its line in the source."""
        entry = Address()
        try:
            self.library.call("ompd_get_task_function", task, byref(entry))
        except Refused as refused:
            if refused.code != UNAVAILABLE:
                raise
            return None
        return [entry.address, gdb.find_pc_line(entry.address).line]

    def task(self, task: c_void_p) -> dict[str, Any]:
        leave, enter = FrameInfo(), FrameInfo()
        self.library.call("ompd_get_task_frame", task, byref(leave), byref(enter))
        return {"code": self.code(task), "implicit": self.library.icv("implicit-task-var", task),
                "final": self.library.icv("final-task-var", task), "exit": leave.address.address,
                "enter": enter.address.address}  # fmt: skip

    def line(self, first: c_void_p | None, step: str) -> list[dict[str, Any]]:
        """The task and those that `step` leads to."""
        found = []
        while first is not None:
            found.append(self.task(first))
            first = self.library.maybe(step, first)
        return found

    def region(self, region: c_void_p) -> dict[str, Any]:
        library = self.library
        size = library.icv("team-size-var", region)
        members = []
        for number in range(size):
            thread = library.handle("ompd_get_thread_in_parallel", region, c_int(number))
            task = library.handle("ompd_get_task_in_parallel", region, c_int(number))
            members.append({"lwp": library.thread_id(thread, LWP), "state": library.state(thread),
                            "code": self.code(task)})  # fmt: skip
        return {"level": library.icv("levels-var", region), "active": library.icv("active-levels-var", region),
                "size": size, "members": members}  # fmt: skip

    def regions(self, thread: c_void_p) -> list[dict[str, Any]]:
        found = []
        region = self.library.maybe("ompd_get_curr_parallel_handle", thread)
        while region is not None:
            found.append(self.region(region))
            region = self.library.maybe("ompd_get_enclosing_parallel_handle", region)
        return found

    def icvs(self, thread: c_void_p) -> dict[str, Any]:
        library = self.library
        handles = {ADDRESS_SPACE: library.space, THREAD: thread,
                   PARALLEL: library.handle("ompd_get_curr_parallel_handle", thread),
                   TASK: library.handle("ompd_get_curr_task_handle", thread)}  # fmt: skip
        values = {}
        for name, (_, scope) in library.icvs.items():
            number = None
            with contextlib.suppress(Refused):  # a list, or a text
                number = library.icv(name, handles[scope])
            values[name] = [number, library.icv_text(name, handles[scope])]
        return values

    def variables(self) -> list[str]:
        lines = POINTER(c_char_p)()
        self.library.call("ompd_get_display_control_vars", self.library.space, byref(lines))
        found = []
        while lines[len(found)] is not None:
            found.append(lines[len(found)].decode())
        self.library.call("ompd_rel_display_control_vars", byref(lines))
        return found

    def current(self) -> c_void_p:
        thread = self.library.thread(LWP, gdb.selected_thread().ptid[1])
        assert thread is not None
        return thread

    def threads(self) -> list[dict[str, Any]]:
        """Those of the process that the library knows."""
        found = []
        for one in gdb.selected_inferior().threads():
            thread = self.library.thread(LWP, one.ptid[1])
            if thread is None:
                continue
            pthread = self.library.thread_id(thread, PTHREAD)
            again = self.library.thread(PTHREAD, pthread)
            found.append({"lwp": one.ptid[1], "state": self.library.state(thread),
                          "same": again is not None and self.library.equal("thread", thread, again)})  # fmt: skip
        return found

    def facts(self) -> dict[str, Any]:
        thread = self.current()
        task = self.library.handle("ompd_get_curr_task_handle", thread)
        own = self.library.handle("ompd_get_task_parallel_handle", task)
        region = self.library.handle("ompd_get_curr_parallel_handle", thread)
        return {"lwp": gdb.selected_thread().ptid[1], "threads": self.threads(), "regions": self.regions(thread),
                "in_current_region": self.library.equal("parallel", own, region), "icvs": self.icvs(thread),
                "tasks": self.line(task, "ompd_get_generating_task_handle"),
                "stack": self.line(task, "ompd_get_scheduling_task_handle")}  # fmt: skip


class Event(gdb.Breakpoint):
    """Notes what the library says of the thread at one of OMPD's breakpoints, and goes on."""

    def __init__(self, name: str, session: Session, events: list[list[Any]]) -> None:
        super().__init__(f"ompd_bp_{name}", internal=True)
        self.name, self.session, self.events = name, session, events

    def stop(self) -> bool:
        library, thread = self.session.library, self.session.current()
        region = library.maybe("ompd_get_curr_parallel_handle", thread)
        task = library.maybe("ompd_get_curr_task_handle", thread)
        self.events.append([self.name, library.icv("levels-var", region) if region else None,
                            library.icv("team-size-var", region) if region else None,
                            self.session.code(task) if task else None])  # fmt: skip
        return False


def run() -> dict[str, Any]:
    gdb.execute("set breakpoint pending on")
    gdb.execute("tbreak ompd_dll_locations_valid")
    gdb.execute("run")
    if gdb.selected_thread() is None:
        return {"valid": False}
    session, events, stops = Session(), [], {}
    kinds = [f"{what}_{end}" for what in ("thread", "parallel", "task") for end in ("begin", "end")]
    breakpoints = [Event(kind, session, events) for kind in kinds]
    gdb.execute("break stop_here")
    gdb.execute("continue")
    while gdb.selected_thread() is not None:
        where = int(gdb.parse_and_eval("where"))
        stops[where] = session.facts()
        if str(where) == os.environ.get("DUMP_AT"):
            gdb.execute(f"generate-core-file {os.environ['DUMP']}")
        gdb.execute("continue")
    return {"valid": True, "path": session.path, "stops": stops, "events": events, "breakpoints": len(breakpoints),
            "exit": int(gdb.parse_and_eval("$_exitcode"))}  # fmt: skip


def look() -> dict[str, Any]:
    session = Session()
    facts, variables = session.facts(), session.variables()
    version = session.library.word("ompd_get_omp_version", session.library.space)
    session.library.call("ompd_rel_address_space_handle", session.library.space)
    session.library.call("ompd_finalize")
    return {"facts": facts, "variables": variables, "version": version}


gdb.execute("set pagination off")
print("FACTS " + json.dumps(look() if gdb.selected_thread() is not None else run()))
