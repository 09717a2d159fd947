# SPDX-License-Identifier: Apache-2.0
"""GDB command for programs on Marline: what suspended tasks wait for, and their stacks, which no thread is on.

    (gdb) source tools/gdb/marline.py         in the sources; PREFIX/lib/marline/gdb/marline.py where it is installed
    (gdb) marline fibers [COUNT]

A fiber lies at the top of its stack, the stacks lie in slabs (runtime/exec/fiber/stack.cpp), and each thread's own
stack is a fiber, too. The registers below a saved stack pointer are the ones that marline_switch pushes
(runtime/exec/fiber/context_x86_64.S). They are put into the selected thread for the time of one backtrace. A core file
has no registers to put them into: there the stacks are unwound by what `marline ps` does it with
(python/marline/ps/unwind.py), and show no arguments. libmarline must have its debug information."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gdb

# In the sources, two folders above this one; where it is installed, one.
sys.path += [str(folder / "python") for folder in Path(__file__).resolve().parents[1:3]]

STACKS_PER_SLAB = 64  # kStacksPerSlab
COLOURS, COLOUR_STEP = 16, 256  # kColours, kColourStep
FIBER_ALIGNMENT = 64  # fiber_create
SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")  # upwards from the saved stack pointer
TIED, IMPLICIT, LABELLED = 1 << 0, 1 << 3, 1 << 14  # task_flag
WAITS = ("something", "an event", "taskwait", "taskwait with dependences", "the end of a taskgroup", "a lock",
         "its turn", "nothing: it has yielded", "leave to start a task", "the event of a detach clause")  # WaitKind
WAIT_VALUES = 6  # MARLINE_WAIT_VALUES


def hidden(name: str, type_name: str) -> gdb.Value:
    """A variable of an unnamed namespace of libmarline. By its place in the symbol table: after link-time optimisation
    GDB finds two entries in the debug information and takes the one without a place."""
    symbols = gdb.execute(f"maint print msymbols -objfile {library()}", to_string=True)
    mangled = rf" (0x[0-9a-f]+) _ZN7marline12_GLOBAL__N_1{len(name)}{name}E(?:\.lto_priv\.\d+)?\s"
    place = re.search(mangled, symbols)
    if place is None:
        raise gdb.error(f"{name} is not in {library()}")
    return gdb.Value(int(place[1], 16)).cast(gdb.lookup_type(type_name).pointer()).dereference()


def library() -> str:
    """The largest of that name: libmarline.so.0 may be a small library that only needs libmarline.so."""
    found = [objfile.filename for objfile in gdb.objfiles() if Path(objfile.filename).name.startswith("libmarline.so")]
    if not found:
        raise gdb.error("the process has no libmarline")
    return max(found, key=lambda file: Path(file).stat().st_size)


def spare_fibers() -> Iterator[gdb.Value]:
    """The fibers of all stacks. Where none has been used yet, memory is zero, which is a fiber without a task."""
    fiber = gdb.lookup_type("marline::Fiber")
    slabs = hidden("g_slabs", "marline::(anonymous namespace)::Slab").address
    word = gdb.lookup_type("unsigned long")
    fields = ("base", "all", "pitch")
    for index in range(int(hidden("g_slab_count", "unsigned long"))):
        base, slots, pitch = (int(slabs[index][name].address.cast(word.pointer()).dereference()) for name in fields)
        for slot in range(STACKS_PER_SLAB):
            if base == 0 or not slots >> slot & 1:
                continue
            high = base + (slot + 1) * pitch - (index * STACKS_PER_SLAB + slot) % COLOURS * COLOUR_STEP
            address = (high - fiber.sizeof) & -FIBER_ALIGNMENT
            yield gdb.Value(address).cast(fiber.pointer()).dereference()


def native_fibers() -> Iterator[gdb.Value]:
    """The fibers of the threads' own stacks."""
    selected = gdb.selected_thread()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            worker = gdb.parse_and_eval("marline_this_worker")
            if int(worker) != 0:
                yield worker["shown_state"]["own_fiber"].dereference()
    finally:
        selected.switch()


def stack_pointers() -> list[int]:
    selected = gdb.selected_thread()
    pointers = []
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        pointers.append(int(gdb.newest_frame().read_register("rsp")))
    selected.switch()
    return pointers


def suspended_task(fiber: gdb.Value) -> gdb.Value | None:
    """A suspended task names its fiber, and the fiber it."""
    task = fiber["task"]
    if int(task) == 0 or int(task["fiber"]) != int(fiber.address):
        return None
    return task.dereference()


def describe(task: gdb.Value) -> str:
    flags = int(task["flags"])
    kind = "implicit task" if flags & IMPLICIT else "tied task" if flags & TIED else "untied task"
    label = f" '{task['label'].string()}'" if flags & LABELLED and int(task["label"]) != 0 else ""
    home = f", to be resumed by worker {int(task['home']['id'])}" if int(task["home"]) != 0 else ""
    return f"{kind} {int(task.address):#x}{label}{home}"


def waits_for(fiber: gdb.Value) -> str:
    if int(fiber["waits_for"]) == 0:
        return WAITS[0]
    why = fiber["waits_for"].dereference()
    call = why["call"]
    if int(call) == 0:
        return WAITS[int(why["kind"])]
    # A null name ends the list, its values come from marline_wait_t. By hand: libmarline has no debug information of
    # it.
    word = gdb.lookup_type("unsigned long").pointer()
    text = gdb.lookup_type("char").pointer()
    record = call.cast(word)
    names, parts = record[1], []
    for index in range(WAIT_VALUES):
        name = gdb.Value(int(names)).cast(word)[index] if int(names) else 0
        if int(name) == 0:
            break
        value = int(record[2 + index].cast(gdb.lookup_type("long")))
        parts.append(f"{gdb.Value(int(name)).cast(text).string()} {value}")
    return f"{gdb.Value(int(record[0])).cast(text).string()}({', '.join(parts)})"


@contextmanager
def registers_of(fiber: gdb.Value) -> Iterator[None]:
    """The selected thread's registers are the fiber's meanwhile. orig_rax comes back last: GDB marks an interrupted
    system call as not to be restarted when it writes rip."""
    gdb.newest_frame().select()
    names = (*SAVED, "rsp", "orig_rax")
    before = {name: int(gdb.parse_and_eval(f"${name}")) for name in names}
    word = gdb.lookup_type("unsigned long")
    saved = fiber["sp"].cast(word.pointer())
    after = {name: int(saved[i]) for i, name in enumerate(SAVED)}
    after["rsp"] = int(fiber["sp"]) + len(SAVED) * word.sizeof
    try:
        set_registers(after)
        yield
    finally:
        set_registers(before)


def set_registers(values: dict[str, int]) -> None:
    for name, value in values.items():
        gdb.execute(f"set ${name} = {value:#x}", to_string=True)


def backtrace(fiber: gdb.Value) -> str:
    if is_core():
        return backtrace_in_core(fiber)
    with registers_of(fiber):
        return str(gdb.execute("backtrace", to_string=True))


def is_core() -> bool:
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is not None and connection.type == "core"


def backtrace_in_core(fiber: gdb.Value) -> str:
    from marline.ps.unwind import Code, Stack, unwind

    low, high = int(fiber["sp"]), int(fiber["stack"]["high"])
    memory = gdb.selected_inferior().read_memory(low, high - low).tobytes()
    lines = []
    for level, frame in enumerate(unwind(Code(mappings()), Stack(low, memory))):
        function = gdb.execute(f"info symbol {frame.address - 1:#x}", to_string=True).split(" in section")[0]
        place = gdb.find_pc_line(frame.address - 1)
        where = f" at {place.symtab.filename}:{place.line}" if place.symtab else ""
        lines.append(f"#{level:<2} {frame.address:#018x} in {function}{where}")
    return "\n".join(lines) + "\n"


def mappings() -> list[str]:
    """As lines of /proc/PID/maps; of files, whether code or not."""
    found = []
    for line in str(gdb.execute("info proc mappings", to_string=True)).splitlines():
        words = line.split(maxsplit=4)
        if len(words) == 5 and words[0].startswith("0x") and words[4].startswith("/"):
            begin, end, _, offset, path = words
            found.append(f"{begin[2:]}-{end[2:]} r-xp {offset[2:]} 0:0 0 {path}")
    return found


class Marline(gdb.Command):
    """Commands for programs on the OpenMP runtime Marline."""

    def __init__(self) -> None:
        super().__init__("marline", gdb.COMMAND_STACK, prefix=True)


class Fibers(gdb.Command):
    """marline fibers [COUNT]: the suspended tasks, what they wait for, and their stacks, COUNT of them at most."""

    def __init__(self) -> None:
        super().__init__("marline fibers", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        most = int(argument) if argument else None
        if gdb.selected_thread() is None:
            raise gdb.GdbError("marline fibers: no process; start the program or attach to one")
        if gdb.newest_frame().architecture().name() != "i386:x86-64":
            raise gdb.GdbError("marline fibers: only x86-64's saved registers are known here")
        try:
            fibers = [*spare_fibers(), *native_fibers()]
        except gdb.error as error:
            missing = "libmarline's debug information is missing (docs/guide/debugging.md)"
            raise gdb.GdbError(f"marline fibers: {error}; {missing}") from error
        running = stack_pointers()
        suspended = []
        for fiber in fibers:
            low, high = int(fiber["stack"]["low"]), int(fiber["stack"]["high"])
            task = suspended_task(fiber)
            if task is not None and not any(low <= pointer < high for pointer in running):
                suspended.append((fiber, task))
        for fiber, task in suspended[:most]:
            print(describe(task))
            print(f"waits for {waits_for(fiber)}")
            print(backtrace(fiber))
        left = "" if most is None or most >= len(suspended) else f", {most} of them shown"
        print(f"{len(suspended)} suspended tasks{left}")


Marline()
Fibers()
