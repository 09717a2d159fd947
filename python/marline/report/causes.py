# SPDX-License-Identifier: Apache-2.0
"""THE table of causes of lost time: what each has cost, how the report says it, and what to try next.

Lost time is idle time and overhead. The breakdown divides it by cause (trace/passes/thread_time/causes.py); a rule adds
up the causes that have one remedy. Texts are formats over the figures, so that no sentence stands without its number.
The biggest loss comes first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from marline.trace.passes.without_tasks.regions import SHORT_NS
from marline.units import count, duration, percent

Figures = Mapping[str, Any]  # numbers, and names for texts

WORTH_SAYING = 0.01  # of all thread time
GRAIN = 10  # a task should last so many times what the runtime spends on it: 9 % overhead
COARSE_NS = 50_000  # tasks of this length hide what any runtime spends on one; overhead then has another reason
FAULT_NS = 500  # about what the kernel needs for a page fault and a zeroed page
MANY_FAULTS = 0.05  # of all thread time, in the kernel
FAULTS_WINDOW_NS = 1_000_000_000
FEW = 4  # with fewer tasks per thread, the last ones leave threads idle for a quarter of the time or more


@dataclass(frozen=True)
class Rule:
    """`parts`: this rule explains the time of these causes, together {lost}. `applies` chooses among rules of the same
    parts."""

    name: str
    parts: tuple[str, ...]
    text: str
    advice: str
    applies: Callable[[Figures], bool] = lambda _: True


def _is_oversubscribed(f: Figures) -> bool:
    return f["threads_per_node"] > f["cores_per_node"] > 0


def _is_fine_grained(f: Figures) -> bool:
    limit = min(GRAIN * f["overhead_per_task_ns"], COARSE_NS)
    return not _is_oversubscribed(f) and 0 < f["grain_median_ns"] < limit


def _is_coarse_grained(f: Figures) -> bool:
    return not _is_oversubscribed(f) and not _is_fine_grained(f)


def _has_few_tasks(f: Figures) -> bool:
    return f["tasks"] < FEW * f["threads"]


def _has_enough_tasks(f: Figures) -> bool:
    return not _has_few_tasks(f)


def _waits_for_tied(f: Figures) -> bool:
    waiting = f["idle_communication_ns"] + f["idle_held_ns"]
    return f["tasks"] > 0 and f["tied_wait_ns"] > waiting / 2 and not _waits_for_devices(f)


def _waits_for_devices(f: Figures) -> bool:
    return f["tasks"] > 0 and f["device_operations"] > 0 and f["mpi_calls"] == 0


def _waits_for_messages(f: Figures) -> bool:
    return f["tasks"] > 0 and not _waits_for_tied(f) and not _waits_for_devices(f)


def _has_no_tasks(f: Figures) -> bool:
    return f["tasks"] == 0


def _has_tasks(f: Figures) -> bool:
    return f["tasks"] > 0


def _is_faults(f: Figures) -> bool:
    """Most of the kernel's time; but the start of any process is faults."""
    faults = FAULT_NS * (f["minor_faults"] + f["major_faults"])
    return f["window_ns"] >= FAULTS_WINDOW_NS and 2 * faults >= f["kernel_ns"] >= MANY_FAULTS * f["thread_ns"]


def _has_short_regions(f: Figures) -> bool:
    return 0 < f["phase_work_ns"] < SHORT_NS


def _has_long_regions(f: Figures) -> bool:
    return not _has_short_regions(f)


def _is_elsewhere(f: Figures) -> bool:
    return not f["on_marline"]


def _is_not_served(f: Figures) -> bool:
    lost = f["overhead_held_ns"] + f["overhead_mpi_ns"]
    return f["on_marline"] and f["suspended_calls"] == 0 and f["held_early_ns"] > lost / 2


def _is_served(f: Figures) -> bool:
    return f["on_marline"] and not _is_not_served(f)


_OVERHEAD = ("overhead_creation", "overhead_code", "overhead_scheduler")
_WAITING = ("idle_communication", "idle_held")
_HELD = ("overhead_held", "overhead_mpi")
_NARROW = ("idle_dependences", "idle_tail")

_HOLDS = "; work, idle and overhead hold this time, too"

# What the machine did. It lies in the times of the breakdown, wherever threads were.
MACHINE_RULES = (
    Rule(
        "stolen cores", ("steal",),
        "for {share} of thread time ({lost}) the hypervisor gave the cores to other virtual machines" + _HOLDS,
        "ask for cores of its own (dedicated or pinned), or measure at another time",
    ),
    Rule(
        "quota", ("throttled",),
        "for {share} of thread time ({lost}) threads were stopped because their cgroup had used up its quota of CPU "
        "time" + _HOLDS,
        "raise the quota (cpu.max; --cpus of a container), or use no more threads (-t) than the quota has cores",
    ),
    Rule(
        "memory", ("memory_stall",),
        "for {share} of thread time ({lost}) processes of the node waited for memory, which was reclaimed or "
        "swapped" + _HOLDS,
        "use less memory per node: fewer ranks, or smaller problems",
    ),
    Rule(
        "page faults", ("kernel",),
        "the kernel works for the program for {share} of thread time ({lost}): it serves {minor_faults} page faults, "
        "and {major_faults} from disk" + _HOLDS,
        "allocate once and use it again: memory that is freed and allocated in each step faults in each step; "
        "MALLOC_TRIM_THRESHOLD_ and MALLOC_TOP_PAD_ make glibc keep it",
        _is_faults,
    ),
)  # fmt: skip

RULES = (
    Rule(
        "busy cores", ("core_wait",),
        "for {share} of their time ({lost}) threads were ready to run and had no core, because other programs ran "
        "there; work, idle and overhead hold this time, too",
        "run it where nothing else runs, or with fewer ranks (-n) or threads (-t)",
    ),
    Rule(
        "oversubscribed", _OVERHEAD,
        "{threads_per_node} threads share {cores_per_node} cores: {share} of thread time ({lost}) passes outside of "
        "tasks while tasks are ready",
        "give every thread a core of its own: fewer ranks (-n) or threads (-t)",
        _is_oversubscribed,
    ),
    Rule(
        "fine grain", _OVERHEAD,
        "tasks are {grain_median} long in the median, and the runtime spends {overhead_per_task} per task: {share} of "
        "thread time ({lost})",
        "raise the grain to {wanted_grain} or more (10 x {overhead_per_task}): larger tiles, or more iterations in "
        "each task",
        _is_fine_grained,
    ),
    Rule(
        "overhead", _OVERHEAD,
        "threads are outside of tasks for {share} of their time ({lost}) while tasks are ready, though tasks last "
        "{grain_median} in the median",
        "look in the timeline (--perfetto) where this passes: code between tasks, locks, threads without a core",
        _is_coarse_grained,
    ),
    Rule(
        "discovery", ("idle_discovery",),
        "{tasks_per_second} tasks/s are created: for {share} of thread time ({lost}), that of the producer between "
        "creations included, no task was ready",
        "let it do less per unit of work: larger tasks, fewer dependences each, taskloop, or several tasks that create",
    ),
    Rule(
        "devices", _WAITING,
        "for {share} of thread time ({lost}) no task was ready, and tasks waited for devices",
        "give devices more to do at a time (docs/guide/gpus-without-waiting.md), or the threads more tasks that need "
        "none",
        _waits_for_devices,
    ),
    Rule(
        "communication", _WAITING,
        "for {share} of thread time ({lost}) no task was ready, and tasks waited in MPI",
        "send earlier (priority for tasks that send and for what they need), or give each rank more tasks that need no "
        "message",
        _waits_for_messages,
    ),
    Rule(
        "tied tasks", _WAITING,
        "for {share} of thread time ({lost}) no task was ready; tied tasks whose messages had been sent went on "
        "{tied_wait} later, in sum",
        "make the tasks that block `untied`: then any idle thread can go on with them",
        _waits_for_tied,
    ),
    Rule(
        "MPI", _WAITING,
        "MPI calls hold threads of a program without tasks for {share} of their time ({lost}){mpi_most}",
        "overlap it: start sends and receives before the computation that does not need them, or make tasks of both",
        _has_no_tasks,
    ),
    Rule(
        "held by MPI", _HELD,
        "MPI calls hold their threads for {share} of thread time ({lost}), most of it in {held_call}, while other "
        "tasks are ready",
        "run it on Marline with MPI_THREAD_MULTIPLE, and block inside of tasks only (docs/guide/running.md)",
        _is_elsewhere,
    ),
    Rule(
        "no suspension", _HELD,
        "MPI calls hold their threads for {share} of thread time ({lost}), most of it in {held_call}, while other "
        "tasks are ready: they wait for messages that are sent later, and no call has suspended its task",
        "start the program by `marline run`, which serves its MPI calls, and call MPI from code that may be suspended "
        "(docs/guide/mpi.md)",
        _is_not_served,
    ),
    Rule(
        "MPI at work", _HELD,
        "threads are inside of MPI for {share} of thread time ({lost}), most of it in {held_call}, while other tasks "
        "are ready: calls that wait suspend their tasks, so MPI itself works, or has no core",
        "send fewer bytes or fewer messages, or give each rank a thread more (-t) that runs the ready tasks meanwhile",
        _is_served,
    ),
    Rule(
        "imbalance", ("imbalance",),
        "ranks have between {work_least} and {work_most} of work per thread: for {share} of thread time ({lost}) they "
        "wait for the ones that have more{one_wait}",
        "{imbalance_advice}",
    ),
    Rule(
        "ranks out of step", ("idle_ranks",),
        "{share} of thread time ({lost}) passes before a rank's first task or after its last, while others run theirs, "
        "and not for lack of work",
        "let all ranks begin at once: look in the timeline (--perfetto) what the late ones do or wait for",
    ),
    Rule(
        "devices at work", ("idle_device",),
        "for {share} of thread time ({lost}) no task was ready for the program's threads, while devices ran kernels: "
        "for {device_least} % to {device_most} % of the time",
        "where devices idle, look in the table of devices whether they wait for inputs or lack regions (more at a "
        "time, of more even lengths); where none idles, use more devices",
    ),
    Rule(
        "throttled producer", ("idle_throttled",),
        "for {share} of thread time ({lost}) no task was ready, and the creator of more tasks ran one instead, because "
        "there were enough (throttling)",
        "let it create further ahead (MARLINE_MAX_READY, MARLINE_MAX_TASKS, MARLINE_MAX_BYTES in docs/options.md), or "
        "create first the tasks that others wait for",
    ),
    Rule(
        "mutual exclusion", ("idle_constraint",),
        "for {share} of thread time ({lost}) no task was ready, and tasks waited for locks, critical regions or others "
        "of their mutexinoutset{lock_site}",
        "do less inside of them, or divide the data that they guard, so that fewer tasks exclude each other",
    ),
    Rule(
        "few tasks", _NARROW,
        "there are {tasks} tasks for {threads} threads: for {share} of thread time ({lost}) none was ready",
        "make more tasks than {few} per thread: smaller tiles, or a task for what one task now does alone",
        _has_few_tasks,
    ),
    Rule(
        "narrow graph", ("idle_dependences",),
        "for {share} of thread time ({lost}) no task was ready: all that were left waited for running "
        "ones{one_address}",
        "shorten the longest chain: split its tasks, give them priority, replace taskwaits and barriers by dependences",
        _has_enough_tasks,
    ),
    Rule(
        "last tasks", ("idle_tail",),
        "for {share} of thread time ({lost}) threads waited for the last tasks to end: no other was left; the longest "
        "task is {longest_task}",
        "start the longest tasks first: create them first, or give them priority; or split them, or create the next "
        "phase's tasks before this one ends",
        _has_enough_tasks,
    ),
    Rule(
        "code outside of tasks", ("idle_outside",),
        "for {share} of thread time ({lost}) there was no task at all: the program ran outside of tasks",
        "make tasks of that code, or create the next phase's tasks before this one ends (no taskwait in between)",
        _has_tasks,
    ),
    Rule(
        "serial code", ("idle_outside",),
        "threads have nothing to do outside of parallel regions for {share} of their time ({lost}){serial_place}",
        "make that code parallel, too, or put it into a region where other threads work meanwhile",
        _has_no_tasks,
    ),
    Rule(
        "unequal threads", ("construct_wait",),
        "{construct_what}; waits at its end cost {share} of thread time ({lost})",
        "{construct_advice}",
    ),
    Rule(
        "locks", ("idle_lock",),
        "threads wait for locks and critical regions for {share} of their time ({lost}){lock_place}{lock_site}",
        "use atomic or reduction, a lock for each part of the data, or do less while holding it",
    ),
    Rule(
        "barriers", ("idle_barrier",),
        "threads wait in barriers for {share} of their time ({lost}){barrier_places}",
        "balance the loops (schedule(dynamic) or taskloop), or take barriers out (nowait)",
        _has_long_regions,
    ),
    Rule(
        "short regions", ("idle_barrier", "idle_between"),
        "threads work {phase_work} between two barriers, on average, and wait in barriers and for the next region for "
        "{share} of their time ({lost}){barrier_places}",
        "do more between two barriers: join regions and loops, take barriers out (nowait), or use fewer threads (-t)",
        _has_short_regions,
    ),
)  # fmt: skip


def find_causes(figures: Figures) -> list[dict[str, Any]]:
    """The rules that apply, the biggest loss first."""
    whole = figures["thread_ns"]
    causes = []
    for rule in (*RULES, *MACHINE_RULES):
        lost = sum(figures[f"{part}_ns"] for part in rule.parts)
        if whole and lost >= WORTH_SAYING * whole and rule.applies(figures):
            words = _words(figures) | {"lost": duration(lost), "share": percent(lost, whole)}
            causes.append({"name": rule.name, "lost_ns": int(lost), "share": lost / whole,
                           "text": rule.text.format_map(words), "advice": rule.advice.format_map(words)})  # fmt: skip
    return sorted(causes, key=lambda cause: -cause["lost_ns"])


def _words(figures: Figures) -> dict[str, str]:
    """The figures with their units: NAME_ns as NAME."""
    words = {name.removesuffix("_ns"): _word(name, value) for name, value in figures.items()}
    return words | {"wanted_grain": duration(GRAIN * figures["overhead_per_task_ns"]), "few": str(FEW)}


def _word(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    return duration(value) if name.endswith("_ns") else count(value)
