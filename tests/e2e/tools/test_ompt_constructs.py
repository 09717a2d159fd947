# SPDX-License-Identifier: Apache-2.0
"""What an OMPT tool hears of each construct: order and arguments, for a program of either compiler. LLVM's runtime
under the same tool and the same Clang binary is the oracle: on one thread it must say the same, down to the code
pointers."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PROGRAMS, SECONDS, Result, run

ROOT = Path(__file__).resolve().parents[3]
LLVM = Path("/usr/lib/llvm-19/lib")
Event = tuple[str, dict[str, str]]
Heard = dict[str, list[Event]]

CONSTRUCTS = (
    "loop_static loop_static_chunk loop_dynamic loop_guided loop_runtime loop_empty loop_ordered loop_reduction "
    "sections single single_nowait single_copyprivate masked taskloop taskloop_nogroup critical critical_named locks "
    "nest_locks task_wait task_if0 task_if0_depend taskwait_depend taskgroup fulfilled_early fulfilled_late region_if0 "
    "region_nested"
).split()
WITH_HINTS = "locks_with_hint"  # routines that libgomp, which gcc links, does not have; Marline does

ALL = ["first", *CONSTRUCTS, WITH_HINTS]  # the first meets the start of the runtime

LOOP_STATIC, LOOP_DYNAMIC, LOOP_GUIDED = 10, 11, 12
SECTIONS, EXECUTOR, OTHER, TASKLOOP = 2, 3, 4, 7
LOCK, TEST_LOCK, NEST_LOCK, TEST_NEST_LOCK, CRITICAL, ORDERED = 1, 2, 3, 4, 5, 7
UNDEFERRED, TASKWAIT_TASK = 1 << 27, 0x48000010
NAMES_OF_THINGS = ("task", "parallel", "prior", "next", "parent", "from", "to", "wait", "address", "thread")


def compile_c(words: list[str | Path]) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("constructs")
    compile_c(["clang-19", "-shared", "-fPIC", "-Wall", "-Werror", PROGRAMS / "ompt_tool.c", "-o", folder / "tool.so"])
    for compiler in ("clang-19", "gcc-12"):
        if shutil.which(compiler) is None:
            continue
        # Without tail calls every call of the runtime has a return address in the program.
        for source in ("ompt_constructs", "ompt_suspend", "ompt_states"):
            compile_c([compiler, "-O1", "-fno-optimize-sibling-calls", "-fopenmp", f"-I{ROOT / 'include'}", f"-L{LLVM}",
                       PROGRAMS / f"{source}.c", "-o", folder / f"{source}-{compiler}"])  # fmt: skip
    return folder


def heard_of(result: Result) -> Heard:
    """The events of each construct, in which the things' numbers count from 1 anew."""
    assert result.returncode == 0, result.stderr
    heard: Heard = {}
    current, numbers = "start", dict[str, str]()
    for line in result.stdout.splitlines():
        name, *pairs = line.split()
        if name == "done":
            current = "end"
        words = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        if name == "construct":
            current, numbers = words["name"], {}
            continue
        for key in NAMES_OF_THINGS:
            if words.get(key, "0") not in ("0", ""):
                words[key] = numbers.setdefault(words[key], str(len(numbers) + 1))
        heard.setdefault(current, []).append((name, words))
    return heard


def run_under(libraries: str, preload: str, tool: Path, words: list[str | Path], threads: int, **more: str) -> Result:
    return run(words, LD_LIBRARY_PATH=libraries, LD_PRELOAD=preload, OMP_NUM_THREADS=str(threads),
               OMP_TOOL_LIBRARIES=str(tool), **more)  # fmt: skip


@pytest.fixture(scope="module")
def on_marline(build: Path, folder: Path) -> Callable[..., Heard]:
    library = build / "lib"

    def run_constructs(compiler: str, names: list[str], threads: int = 1, **more: str) -> Heard:
        program = folder / f"ompt_constructs-{compiler}"
        if not program.exists():
            pytest.skip(f"no {compiler}")
        return heard_of(run_under(f"{library}/marline/compat:{library}", str(library / "libmarline.so"),
                                  folder / "tool.so", [program, *names], threads, **more))  # fmt: skip

    return run_constructs


@pytest.fixture(scope="module")
def heard(on_marline: Callable[..., Heard]) -> Callable[[str], Heard]:
    made: dict[str, Heard] = {}

    def by(compiler: str) -> Heard:
        if compiler not in made:
            made[compiler] = on_marline(compiler, ALL)
        return made[compiler]

    return by


@pytest.fixture(scope="module")
def oracle(folder: Path) -> Heard:
    if not (LLVM / "libomp.so.5").exists():
        pytest.skip("no libomp of LLVM 19")
    program = folder / "ompt_constructs-clang-19"
    return heard_of(run_under(str(LLVM), "", folder / "tool.so", [program, *ALL], 1))


# Where the two differ on purpose. On one thread LLVM has no barrier at a region's end, runs each task where it is
# created (so none ever waits for another), and gives a loop one chunk of any schedule; the end of an implicit task has
# no size (OpenMP 5.2, 19.5.2.11). It says no wait of a taskwait with dependences, no code pointer of a reduction and at
# the end of a serial region, and one of its own of a taskloop.
def comparable(name: str, events: list[Event]) -> list[Event]:
    kept = []
    for event, given in events:
        words = {key: value for key, value in given.items() if key not in ("by", "known", "label", "color")}
        if event in ("set", "start", "initialize", "thread_begin", "task_dependence", "dispatch", "tested"):
            continue
        if event.startswith("sync_region") and (words["kind"] == "9" or "depend" in name):
            continue
        if event == "implicit_task":
            if words["flags"] == "1":
                continue
            words.pop("size")
        if event == "task_create":
            words["flags"] = str(int(words["flags"]) & ~UNDEFERRED)
        if event == "work" and name == "loop_guided":
            words["kind"] = str(LOOP_GUIDED)
        if event in ("reduction", "parallel_end") or (name.startswith("taskloop") and event in ("work", "task_create")):
            words.pop("at")
        kept.append((event, words))
    return kept


# Several deferred tasks at once: their order is the schedule's.
SEVERAL_TASKS = {"taskloop", "taskloop_nogroup"}
DEFERRED = {"task_wait", "taskgroup", "fulfilled_early", "fulfilled_late", "task_if0_depend", "taskwait_depend"}


@pytest.mark.parametrize("name", [name for name in [*CONSTRUCTS, WITH_HINTS] if name not in SEVERAL_TASKS | DEFERRED])
def test_same_as_llvm(heard: Callable[[str], Heard], oracle: Heard, name: str) -> None:
    assert comparable(name, heard("clang-19")[name]) == comparable(name, oracle[name])


@pytest.mark.parametrize("name", sorted(DEFERRED | SEVERAL_TASKS))
def test_same_as_llvm_but_for_when_tasks_run(heard: Callable[[str], Heard], oracle: Heard, name: str) -> None:
    # Tasks are numbered by creation: sorted, each event must be there with its arguments. A task that LLVM
    # starts where it is created starts later here, from a taskyield perhaps, which is then the reason.
    def events(of: Heard) -> list[str]:
        return sorted(str(event).replace("'status': '2'", "'status': '7'") for event in comparable(name, of[name]))

    assert events(heard("clang-19")) == events(oracle)


def short(events: list[Event], *names: str) -> list[tuple[str, ...]]:
    """(event, kind, endpoint or count...) of the named events."""
    keys = ("kind", "end", "count")
    return [(name, *(words[key] for key in keys if key in words)) for name, words in events if name in names]


def work(kind: int, begin: int, end: int) -> list[tuple[str, ...]]:
    return [("work", str(kind), "1", str(begin)), ("work", str(kind), "2", str(end))]


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("loop_dynamic", work(LOOP_DYNAMIC, 9, 0)),
        ("loop_guided", work(LOOP_GUIDED, 20, 0)),
        ("loop_runtime", work(LOOP_STATIC, 5, 0)),
        ("loop_ordered", work(LOOP_DYNAMIC, 3, 0)),
        ("sections", work(SECTIONS, 2, 0)),
        ("single", work(EXECUTOR, 1, 1)),
        ("single_nowait", work(EXECUTOR, 1, 1)),
        ("single_copyprivate", work(EXECUTOR, 1, 1)),
        ("taskloop", work(TASKLOOP, 6, 6)),
        ("taskloop_nogroup", work(TASKLOOP, 6, 6)),
    ],
)
def test_work(heard: Callable[[str], Heard], compiler: str, name: str, expected: list[tuple[str, ...]]) -> None:
    events = heard(compiler)[name]
    assert short(events, "work") == expected
    [implicit] = [words for event, words in events if event == "implicit_task" and words["end"] == "1"]
    for event, words in events:
        if event == "work":
            assert (words["task"], words["parallel"]) == (implicit["task"], implicit["parallel"])
            assert words["at"] != "0"


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_chunks_and_sections_are_dispatched(heard: Callable[[str], Heard], compiler: str) -> None:
    chunks = [(words["start"], words["iterations"]) for event, words in heard(compiler)["loop_dynamic"]
              if event == "dispatch"]  # fmt: skip
    assert chunks == [("0", "4"), ("4", "4"), ("8", "1")]
    if compiler == "gcc-12":  # Clang divides sections in line
        kinds = [words["kind"] for event, words in heard(compiler)["sections"] if event == "dispatch"]
        assert kinds == ["2", "2"]


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_mutexes(heard: Callable[[str], Heard], compiler: str) -> None:
    def steps(name: str) -> list[tuple[str, int]]:
        return [(event, int(words["kind"])) for event, words in heard(compiler)[name] if "wait" in words]

    acquire, acquired, released = "mutex_acquire", "mutex_acquired", "mutex_released"
    assert steps("critical") == [(acquire, CRITICAL), (acquired, CRITICAL), (released, CRITICAL)]
    assert steps("critical_named") == steps("critical")
    assert steps("loop_ordered") == [(acquire, ORDERED), (acquired, ORDERED), (released, ORDERED)] * 3
    assert steps("locks") == [
        ("lock_init", LOCK), (acquire, LOCK), (acquired, LOCK), (acquire, TEST_LOCK), (released, LOCK),
        (acquire, TEST_LOCK), (acquired, TEST_LOCK), (released, LOCK), ("lock_destroy", LOCK),
    ]  # fmt: skip
    assert steps("nest_locks") == [
        ("lock_init", NEST_LOCK), (acquire, NEST_LOCK), (acquired, NEST_LOCK), (acquire, NEST_LOCK), ("nest_lock", 1),
        (acquire, TEST_NEST_LOCK), ("nest_lock", 1), ("nest_lock", 2), ("nest_lock", 2), (released, NEST_LOCK),
        (acquire, TEST_NEST_LOCK), (acquired, TEST_NEST_LOCK), (released, NEST_LOCK), ("lock_destroy", NEST_LOCK),
    ]  # fmt: skip
    hints = [(event, words["hint"]) for event, words in heard(compiler)["locks_with_hint"] if event == "lock_init"]
    assert hints == [("lock_init", "2"), ("lock_init", "1")]
    assert {len({words["wait"] for _, words in heard(compiler)[name] if "wait" in words})
            for name in ("locks", "nest_locks", "critical", "loop_ordered")} == {1}  # fmt: skip


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_fulfilments(heard: Callable[[str], Heard], compiler: str) -> None:
    complete, detach, early, late = "1", "4", "5", "6"

    def ends(name: str) -> list[tuple[str, bool]]:
        events = heard(compiler)[name]
        first = next(words["task"] for event, words in events if event == "task_create")
        return [(words["status"], words["next"] == "0") for event, words in events
                if event == "task_schedule" and words["prior"] == first]  # fmt: skip

    assert ends("fulfilled_early") == [(early, True), (complete, False)]
    assert ends("fulfilled_late") == [(detach, False), (late, True)]


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_taskwait_with_dependences_is_a_task(heard: Callable[[str], Heard], compiler: str) -> None:
    events = heard(compiler)["taskwait_depend"]
    [waiting] = [words for event, words in events if event == "task_create" and int(words["flags"]) & 0x10]
    assert (int(waiting["flags"]), waiting["dependent"]) == (TASKWAIT_TASK, "1")
    assert [words["type"] for event, words in events if event == "dependence" and words["task"] == waiting["task"]] == [
        "1"
    ]
    end = ("task_schedule", {"prior": waiting["task"], "status": "8", "next": "0"})
    assert end in [(event, {k: v for k, v in words.items() if k != "by"}) for event, words in events]


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
@pytest.mark.parametrize("name", ["single", "single_nowait", "single_copyprivate"])
def test_single_on_two_threads(on_marline: Callable[..., Heard], compiler: str, name: str) -> None:
    events = on_marline(compiler, [name], threads=2)[name]
    kinds = {}
    for event, words in events:
        if event == "work":
            kinds.setdefault(words["task"], []).append((int(words["kind"]), words["end"]))
    assert sorted(kinds.values()) == [[(EXECUTOR, "1"), (EXECUTOR, "2")], [(OTHER, "1"), (OTHER, "2")]]


def test_event_that_no_tool_asks_for_is_not_missed(on_marline: Callable[..., Heard]) -> None:
    heard = on_marline("clang-19", ["loop_dynamic", "single"], WITHOUT="work")
    assert not [event for events in heard.values() for event, _ in events if event == "work"]
    assert len([event for event, _ in heard["loop_dynamic"] if event == "dispatch"]) == 3


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("schedule", ["lifo", "fifo", "random:1", "random:2", "random:3"])
def test_schedule_events_of_a_thread_are_a_chain(
    build: Path, folder: Path, compiler: str, threads: int, schedule: str
) -> None:
    program = folder / f"ompt_suspend-{compiler}"
    if not program.exists():
        pytest.skip(f"no {compiler}")
    library = build / "lib"
    result = run_under(f"{library}/marline/compat:{library}", str(library / "libmarline.so"), folder / "tool.so",
                       [program], threads, MARLINE_SCHEDULE=schedule)  # fmt: skip
    assert result.returncode == 0, result.stderr
    current, outside = dict[str, str](), dict[str, str]()  # by thread; by implicit task
    statuses, created, ended = set[str](), set[str](), list[str]()
    for line in result.stdout.splitlines():
        name, *pairs = line.split()
        words = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        if name == "implicit_task":
            thread, task = words["by"], words["task"]
            if words["end"] == "1":
                outside[task] = current.get(thread, "")
                current[thread] = task
            else:
                assert current[thread] == task, line
                current[thread] = outside[task]
        if name == "task_create" and words["flags"] != str(TASKWAIT_TASK):
            created.add(words["task"])
        if name != "task_schedule":
            continue
        statuses.add(words["status"])
        if words["status"] in ("1", "6"):
            ended.append(words["prior"])
        if words["next"] != "0":  # else a fulfilment, or a dependent taskwait's end: no thread changes its task
            assert words["prior"] == current[words["by"]], line
            current[words["by"]] = words["next"]
    assert {"1", "2", "7"} <= statuses
    assert result.stdout.splitlines()[-1] == f"afterwards sum={threads}"
    assert sorted(ended) == sorted(created)


@pytest.mark.parametrize("compiler", ["clang-19", "gcc-12"])
def test_states(build: Path, folder: Path, compiler: str) -> None:
    program = folder / f"ompt_states-{compiler}"
    if not program.exists():
        pytest.skip(f"no {compiler}")
    library = build / "lib"
    result = run([program], LD_LIBRARY_PATH=f"{library}/marline/compat:{library}", OMP_NUM_THREADS="2",
                 LD_PRELOAD=f"{library}/libmarline.so {folder / 'tool.so'}")  # fmt: skip
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [words[1] for words in lines if words[0] == "seen"] == [
        f"name={name}" for name in ("barrier_explicit", "taskwait", "taskgroup", "lock", "critical", "ordered",
                                    "barrier_implicit_parallel", "idle")
    ]  # fmt: skip
    listed = dict(reversed(words[1:]) for words in lines if words[0] == "state")
    assert listed["name=ompt_state_wait_lock"] == "value=41"
    assert len(listed) == 14
