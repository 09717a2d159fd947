# SPDX-License-Identifier: Apache-2.0
"""`marline ps` asks processes that may be hostile: another one sits at the socket's name, or what it answers is
endless, slow, deep, of wrong types, or full of what terminals obey, and the files that it names are made to mislead.
Random changes of a report and of a file's call frame information (hypothesis); MARLINE_EXHAUSTIVE=1 tries more."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXHAUSTIVE, PROGRAMS, SECONDS, Result, clean_environment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from marline.errors import Refusal  # noqa: E402
from marline.ps import answers, client, places  # noqa: E402
from marline.ps.answers import NoAnswer, clean, parse  # noqa: E402
from marline.ps.client import Door, Request, ask, doors_from  # noqa: E402
from marline.ps.job import Process, read  # noqa: E402
from marline.ps.rights import act_as_owner  # noqa: E402
from marline.ps.text import listing  # noqa: E402
from marline.ps.text import report as as_text  # noqa: E402
from marline.ps.unwind import Code, File, Stack, Unknown, unwind  # noqa: E402
from marline.ps.verdict import as_document, judge  # noqa: E402
from marline.ps.workers import doors_of_workers, workers_of  # noqa: E402

STRANGER = 54321  # a user that needs no account
Report = dict[str, Any]
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be others")


# Sockets --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def process(begin: Callable[[], Callable[[], Any]]) -> Iterator[int]:
    """A child that has begun, and goes on with what `begin` returns until it is killed."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            go_on = begin()
            os.write(tell, b".")
            go_on()
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(ready, 1) == b"."
    os.close(ready)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def serving(answer: Callable[[socket.socket], None], name: int | None = None,
            user: int = 0) -> Callable[[], Callable[[], None]]:  # fmt: skip
    """Sits at the socket of process `name`, or its own, and answers."""

    def begin() -> Callable[[], None]:
        if user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        door.bind(f"\0marline/{name or os.getpid()}")
        door.listen()

        def serve() -> None:
            while True:
                connection, _ = door.accept()
                with contextlib.suppress(OSError), connection:
                    connection.recv(4096)
                    answer(connection)

        return serve

    return begin


def silent() -> Callable[[], None]:
    return signal.pause


def of_this_process(text: str | None = None, **changes: Any) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.sendall((text or json.dumps(plain_report() | {"pid": os.getpid()} | changes)).encode())

    return answer


def plain_report() -> Report:
    return {"format": answers.FORMAT, "version": "0", "pid": 1, "host": "here", "program": "/bin/app", "nanoseconds": 1,
            "kernel_threads": [], "maps": [], "sections": {}}  # fmt: skip


def endless(connection: socket.socket) -> None:
    while True:
        connection.sendall(b" " * 65536)


def dripping(connection: socket.socket) -> None:
    while True:
        connection.sendall(b" ")
        time.sleep(0.05)


def test_an_honest_answer() -> None:
    with process(serving(of_this_process())) as pid:
        assert ask(Door(pid), Request())["pid"] == pid


@pytest.mark.parametrize("user", [0, pytest.param(STRANGER, marks=as_root)])
def test_a_socket_of_another_process(user: int) -> None:
    with (
        process(silent) as victim,
        process(serving(of_this_process(pid=victim), name=victim, user=user)) as squatter,
        pytest.raises(NoAnswer, match=rf"socket of process {victim} is that of process {squatter}"),
    ):
        ask(Door(victim), Request())


def test_a_report_of_another_process() -> None:
    with process(serving(of_this_process(pid=1))) as pid, pytest.raises(NoAnswer, match="that of a process 1$"):
        ask(Door(pid), Request())


def test_an_endless_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_BYTES", 1 << 20)
    with process(serving(endless)) as pid, pytest.raises(NoAnswer, match="more than 1 MiB"):
        ask(Door(pid), Request())


def test_an_answer_that_drips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "LONGEST", 0.5)
    with process(serving(dripping)) as pid, pytest.raises(NoAnswer, match="does not come to an end"):
        ask(Door(pid), Request())


def test_those_who_are_silent_are_asked_again_for_less_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command asks six times or so: a process that is stopped must not cost as many times its patience."""
    waits: list[float] = []
    monkeypatch.setattr(client, "SECONDS", 0.2)
    monkeypatch.setattr(client, "SECONDS_AGAIN", 0.01)
    receive = lambda connection, until, silence: waits.append(silence) or connection.recv(1)  # noqa: E731
    monkeypatch.setattr(client, "receive", receive)
    with process(serving(lambda connection: time.sleep(100))) as pid:
        for _ in range(3):
            with pytest.raises(NoAnswer, match="is it stopped"):
                ask(Door(pid), Request())
    assert waits == [0.2, 0.01, 0.01]


def test_patience_is_that_of_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of processes that say nothing, as a report can name them, do not take thousands of times as long."""
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    with process(serving(lambda connection: time.sleep(100))) as pid:
        found = client.ask_all({number: Door(pid) for number in range(3000)}, Request())
    assert len(found) == 3000 and all(isinstance(one, NoAnswer) for one in found.values())
    assert "it was not asked" in str(found[2999])


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format":' * 5000, "[0" + ",0" * answers.MOST_VALUES + "]", "",
                                  "\xff", "nul", '{"a": NaN}', "9" * 5000, "[]", '{"format": "marline-inspect 1"}'])
def test_no_report(text: str) -> None:
    with pytest.raises(NoAnswer):
        parse(text.encode())


def test_texts_are_cleaned() -> None:
    evil = "\x1b]0;title\x07\x1b[2J\r\n\u202eSTALLED\x9b1m"
    report = parse(json.dumps(plain_report() | {"program": f"/bin/{evil}"}).encode())
    assert report["program"].isprintable() and "STALLED" in report["program"]
    assert clean("task 'größe'") == "task 'größe'"


@pytest.mark.parametrize("evil", ["\x1b[31mred", "a\nmarline: all is well"])
def test_the_command_prints_no_escapes(marline: Callable[..., Result], evil: str) -> None:
    threads = [{"thread": 1, "worker": 0, "state": "runs", "ready": 0, "suspensions": 0,
                "task": {"id": "0x1", "label": evil, "kind": "tied"}}]  # fmt: skip
    with process(serving(of_this_process(program=f"/bin/{evil}", threads=threads, problem=evil))) as pid:
        one, all_of_them = marline("ps", str(pid), "--seconds", "0.01"), marline("ps")
    assert one.returncode == 0 and "COMPUTING" in one.stdout, one.stderr
    for text in (one.stdout, one.stderr, all_of_them.stdout):
        assert all(line.isprintable() for line in text.splitlines())
        assert not re.search(r"^marline: all is well", text, re.MULTILINE)


@as_root
@pytest.mark.parametrize("answer", [endless, of_this_process("[" * 10**6), of_this_process(threads=7)])
def test_root_asks_others(marline: Callable[..., Result], answer: Callable[[socket.socket], None]) -> None:
    with process(serving(answer, user=STRANGER)) as pid:
        result = marline("ps", str(pid))
        everything = marline("ps")
    assert result.returncode == 125 and len(result.stderr.splitlines()) == 1, result.stderr
    assert "Traceback" not in result.stderr + everything.stderr and everything.returncode == 0
    assert str(pid) not in everything.stdout


@as_root
def test_root_acts_as_the_owner() -> None:
    def become(victim: int) -> Callable[[], Any]:
        def begin() -> Callable[[], None]:
            act_as_owner(victim)
            assert os.getresuid() == os.getresgid() == (STRANGER,) * 3 and os.getgroups() == []
            return signal.pause

        return begin

    with process(serving(of_this_process(), user=STRANGER)) as victim, process(become(victim)):
        pass
    with pytest.raises(Refusal, match="there is no process"):
        act_as_owner(1 << 30)


@pytest.mark.parametrize("way", ["open", "hidden"])
def test_stacks_are_shown_to_those_who_may_trace(build: Path, way: str) -> None:
    """A process that its user may not trace (set-uid programs are such) does not show its user what is on its
    stacks."""
    folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    user = STRANGER if os.getuid() == 0 else os.getuid()
    try:
        folder.chmod(0o755)
        subprocess.run(["gcc-12", "-fopenmp", PROGRAMS / "hidden.c", "-o", folder / "hidden"], check=True)
        environment = clean_environment(LD_LIBRARY_PATH=f"{build}/lib/marline/compat:{build}/lib", HOME=str(folder))
        with subprocess.Popen([folder / "hidden", way], env=environment, user=user, text=True,
                              stdout=subprocess.PIPE) as shown:  # fmt: skip
            try:
                assert shown.stdout is not None and shown.stdout.readline() == "ready\n"
                words = ["/usr/bin/python3", build / "lib" / "marline" / "marline-python", "ps", str(shown.pid)]
                result = subprocess.run(words, user=user, capture_output=True, text=True, timeout=SECONDS, check=False)
            finally:
                shown.kill()
    finally:
        shutil.rmtree(folder)
    if way == "open":
        assert (result.returncode, result.stderr) == (0, "") and "COMPUTING" in result.stdout
    else:
        assert result.returncode == 125 and "does not tell what it does" in result.stderr


# Reports --------------------------------------------------------------------------------------------------------------


def full_report(rank: int) -> Report:
    """With all parts that there are."""
    call = {"operation": "MPI_Recv", "record": "0x1", "peer": 1 - rank, "tag": 3, "comm": 7, "bytes": 8, "requests": 0}
    wait_all = {"operation": "MPI_Waitall", "record": "0x1", "peer": -2, "tag": -2, "comm": 0, "ids": [1, 2, 9],
                "id_count": 4}  # fmt: skip
    stack = {"sp": "0x7f0000000000", "stack": [bytes(range(256)).hex(), words_of_stack()]}

    def task(number: int, wait: Report, **more: Any) -> Report:
        return {"id": hex(number), "label": "one", "kind": "tied", "parent": "0x1", "taskgroup": "0x9", "children": 1,
                "home": 0, "block": ["0x400010", "0"], "wait": wait, **stack, **more}  # fmt: skip

    kinds = ["event", "taskwait", "taskgroup", "lock", "dependences", "turn", "yield"]
    tasks = [task(16 + i, {"kind": kind, "object": "0x9", "unfinished": 2}) for i, kind in enumerate(kinds)]
    on_device = {"operation": "kernel", "device": 1, "bytes": 5, "since": 3}
    tasks += [task(64 + i, {"kind": "event", "object": "0", "call": one})
              for i, one in enumerate((call, wait_all, on_device))]  # fmt: skip
    running = {"id": "0x40", "label": "two", "kind": "implicit", "block": ["0x400020"]}
    threads = [{"worker": i, "thread": 10 + i, "state": state, "suspensions": 1, "ready": 1, "task": running}
               for i, state in enumerate(("runs", "idle", "barrier", "blocked"))]  # fmt: skip
    threads[3] |= {"call": call, **stack}
    sections = {
        "mpi": {"rank": rank, "size": 2, "bound": 1, "communicators": [
            {"id": 7, "agreed": True, "rank": rank, "size": 2, "name": "world", "remote": False, "ranks": [0, 1],
             "collectives": [{"number": 3, "operation": "MPI_Barrier"}]}]},
        "mpi_peers": {"secret": "ab", "ranks": [{"host": "here", "pid": 5, "port": 0},
                                                {"host": "far", "pid": 6, "port": 9}]},
        "mpi_messages": {"messages": [{"comm": 7, "source": 1 - rank, "tag": 4, "bytes": 8}]},
        "mpi_requests": {"complete": [0, 2], "requests": [
            {"id": 1, "operation": "MPI_Irecv", "peer": 1 - rank, "tag": 1, "comm": 7, "count": 1},
            {"id": 9, "operation": "MPI_Ibarrier", "peer": -2, "tag": -2, "comm": 7, "count": 0}]},
        "devices": {"asides": [{"device": 0, "what": "kernel", "where": "app.c:3"}], "left_out": 2},
        "nodes": {"number": 0, "node": "here", "processes": [{"number": 1, "node": "far", "pid": 8, "here": True}]},
        "cluster": {"node": 0, "under_way": 1, "waiting": 2, "copies": 3, "bytes": 4, "sent": 5, "to_gpu": 6,
                    "from_gpu": 7},
        "worker": {"device": 1, "kernels": [{"where": "region at app+0x12", "runs": True, "since": 1}], "left_out": 1,
                   "idle_since": 2, "sending": {"count": 1, "bytes": 2}, "arriving": {"count": 1, "bytes": 2}},
    }  # fmt: skip
    kernel = [{"thread": 10 + i, "stat": f"{10 + i} (a b) S" + " 1" * 20, "syscall": "202 0x1 0x80 0x1 0x0",
               "schedstat": "5 6 7"} for i in range(6)]  # fmt: skip
    return plain_report() | {"pid": 5 + rank, "threads": threads, "tasks": tasks, "kernel_threads": kernel,
                             "blocked_threads": [{"thread": 15, "call": call, **stack}], "sections": sections,
                             "maps": maps_of_library(), "task_count": 10}  # fmt: skip


def maps_of_library() -> list[str]:
    return [f"400000-600000 r-xp 00000000 08:01 11 {libc_path()}"]


def libc_path() -> str:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if "/libc.so.6" in line or "/libc-2" in line)


def words_of_stack() -> str:
    return b"".join((0x400000 + 0x30000 + 811 * i).to_bytes(8, "little") for i in range(100)).hex()


NASTY = [None, True, -1, 0, 1, 2**31, 2**64 - 1, 2**80, -(2**63), 1.5, "", "0", "0x", "0x1", "0xffffffffffffffff",
         "x" * 300, "\x1b[2J", "\n\n", "\u202e", "MPI_Waitall", "MPI_Finalize", "taskwait", "lock", [], {}, [[]], [0],
         {"a": 1}, [None], "/", "/dev/zero", "runs"]  # fmt: skip


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Each container with each of its keys or positions."""
    found: list[tuple[Any, Any]] = []
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        found += places_in(value[key])
    return found


def change(report: Report, dice: random.Random) -> None:
    """Something is taken out, doubled, exchanged with another value of the report, or becomes nasty."""
    container, key = dice.choice(places_in(report))
    way = dice.randrange(4)
    if way == 0:
        del container[key]
    elif way == 1 and isinstance(container, list):
        container += json.loads(json.dumps(container[key:] * dice.choice([1, 3, 50])))
    elif way == 2:
        other, name = dice.choice(places_in(report))
        container[key] = json.loads(json.dumps(other[name]))
    else:
        container[key] = json.loads(json.dumps(dice.choice(NASTY)))


def look_at(reports: list[bytes]) -> None:
    """All that the command does with answers, but for the sockets and the symbolizer."""
    ranks: dict[int, Process] = {}
    for rank, text in enumerate(reports):
        try:
            report = parse(text)
        except NoAnswer as reason:
            assert str(reason).isprintable()
            continue
        doors = doors_from(report)
        workers = doors_of_workers(doors | {rank: Door(5)}, {rank: report})
        ranks[rank] = read(report, rank)
        ranks[rank].workers = workers_of(rank, report, dict.fromkeys(workers, report))
        assert all(line.isprintable() for line in listing([report]).splitlines())
    if not ranks:
        return
    notes = places.locate(ranks.values())
    verdict = judge(ranks, ranks, {})
    text = as_text(ranks, verdict, 1.0, notes, everything=True)
    assert all(line.isprintable() for line in text.splitlines())
    json.dumps(as_document(ranks, ranks, verdict))


@pytest.fixture(autouse=True)
def no_symbolizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "ask_inlined", lambda path, addresses: [[] for _ in addresses])


def test_the_full_report_passes() -> None:
    for rank in (0, 1):
        assert parse(json.dumps(full_report(rank)).encode())["pid"] == 5 + rank
    look_at([json.dumps(full_report(rank)).encode() for rank in (0, 1)])


MANY = settings(max_examples=5000 if EXHAUSTIVE else 200, deadline=None, suppress_health_check=list(HealthCheck),
                database=None)  # fmt: skip


@MANY
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_changed_reports(dice: random.Random, changes: int) -> None:
    reports = [full_report(0), full_report(1)]
    for _ in range(changes):
        change(dice.choice(reports), dice)
    texts = [json.dumps(one).encode() for one in reports]
    if dice.random() < 0.1:
        at = dice.randrange(len(texts[0]))
        texts[0] = texts[0][:at] + bytes(dice.randrange(256) for _ in range(dice.randrange(8))) + texts[0][at:]
    look_at(texts)


# Files ----------------------------------------------------------------------------------------------------------------


def test_files_that_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for path in (tmp_path / "pipe", tmp_path / "empty", tmp_path, tmp_path / "none", Path("/dev/zero")):
        assert File.open(str(path)) is None


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small one with call frame information."""
    folder = tmp_path_factory.mktemp("library")
    code = "int f(int a); int g(int a) { return f(a) + 1; } int h(int a) { return g(a) + 2; }\n"
    (folder / "code.c").write_text(code)
    subprocess.run(["gcc-12", "-shared", "-fPIC", "-O1", folder / "code.c", "-o", folder / "code.so"], check=True)
    return folder / "code.so"


@MANY
@given(dice=st.randoms(use_true_random=False))
def test_changed_files(library: Path, dice: random.Random) -> None:
    data = bytearray(library.read_bytes())
    begin = next(at for at in range(0, len(data), 4) if data[at : at + 4] == b"\x01\x1b\x03\x3b")  # .eh_frame_hdr
    for _ in range(dice.randrange(1, 8)):
        ranges = (begin, min(begin + 400, len(data))), (0, 64 + 56 * 11), (0, len(data))
        at = dice.randrange(*dice.choice(ranges))
        data[at] = dice.choice([0, 0x7F, 0x80, 0xFF, dice.randrange(256)])
    changed = library.with_name("changed.so")
    changed.write_bytes(data)
    file = File.open(str(changed))
    for _ in range(20 if file else 0):
        assert file is not None
        with contextlib.suppress(Unknown):
            file.row(dice.randrange(0x1000, 0x1200))
    words = b"".join((0x400000 + dice.randrange(0x1000, 0x1200)).to_bytes(8, "little") for _ in range(64))
    unwind(Code([f"400000-500000 r-xp 00000000 08:01 11 {changed}"]), Stack(0x7F0000000000, words))


def test_numbers_without_an_end(tmp_path: Path, library: Path) -> None:
    """A LEB128 number of a gigabyte, and as many instructions, would take hours."""
    data = library.read_bytes()
    begin = next(at for at in range(0, len(data), 4) if data[at : at + 4] == b"\x01\x1b\x03\x3b")
    for filling in (b"\x80", b"\x00", b"\x0a"):
        path = tmp_path / "filled.so"
        path.write_bytes(data[: begin + 60] + filling * (1 << 22))
        file = File.open(str(path))
        assert file is not None
        for address in range(0x1000, 0x1200, 7):
            with contextlib.suppress(Unknown):
                file.row(address)
