# SPDX-License-Identifier: Apache-2.0
"""The relays of `marline ps` from other nodes: clients that say nothing, or never read, and processes that are stopped
keep no process from being asked; clients without the secret are few at a time, and learn nothing."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from marline.ps.answers import NoAnswer  # noqa: E402
from marline.ps.client import Door, Request, ask, ask_all  # noqa: E402

MOST = 64  # clients that a relay serves


@dataclass
class Node:
    process: subprocess.Popen[str]
    door: Door

    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


@pytest.fixture
def start(build: Path, compiled: Callable[..., Path]) -> Iterator[Callable[[], Node]]:
    program = compiled("gcc-12", "relay.c", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline",
                       f"-Wl,-rpath,{build}/lib")  # fmt: skip
    path = f"{build}/lib/marline/compat:{build}/lib"
    begun: list[subprocess.Popen[str]] = []

    def begin() -> Node:
        secret = secrets.token_hex(16)
        process = subprocess.Popen([program, secret], env=clean_environment(LD_LIBRARY_PATH=path), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        begun.append(process)
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert port > 0
        return Node(process, Door(process.pid, "127.0.0.1", port, secret))

    yield begin
    for process in begun:
        process.kill()
        with process:
            process.wait(SECONDS)


@contextlib.contextmanager
def connections(door: Door, count: int, words: bytes = b"") -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection((door.host, door.port), timeout=SECONDS))
                for _ in range(count)]  # fmt: skip
        for one in made:
            one.sendall(words)
        yield made


def test_many_ask_at_once(start: Callable[[], Node]) -> None:
    door = start().door
    answers = ask_all(dict.fromkeys(range(20), door), Request())
    assert [answer["pid"] for answer in answers.values()] == [door.pid] * 20  # type: ignore[index]


@pytest.mark.parametrize("words", [b"", b"0" * 31, b"no secret"])
def test_those_who_say_nothing_stop_nobody(start: Callable[[], Node], words: bytes) -> None:
    node = start()
    with connections(node.door, 100, words):
        for _ in range(10):
            assert ask(node.door, Request())["pid"] == node.door.pid
        assert node.files() < MOST


def test_those_who_never_read_stop_nobody(start: Callable[[], Node]) -> None:
    """They have the secret, and ask another process than this one; they do hold this one's server for a while."""
    node, held = start(), start()
    request = Request(stacks=64, stack_bytes=1 << 16).line(held.door.pid)
    with connections(node.door, MOST // 2 - 4, node.door.secret.encode() + request):
        assert ask(node.door, Request())["pid"] == node.door.pid


def test_a_stopped_process_stops_nobody(start: Callable[[], Node]) -> None:
    """The others of its node are asked through the same relay, which must not wait for it."""
    node, stopped = start(), start()
    os.kill(stopped.process.pid, signal.SIGSTOP)
    behind = replace(node.door, pid=stopped.process.pid)
    with connections(behind, 20, node.door.secret.encode() + Request().line(behind.pid)), ThreadPoolExecutor(4) as pool:
        waits = [pool.submit(ask, behind, Request()) for _ in range(4)]
        for _ in range(5):
            assert ask(node.door, Request())["pid"] == node.door.pid
        os.kill(stopped.process.pid, signal.SIGCONT)
        assert [one.result()["pid"] for one in waits] == [stopped.process.pid] * 4


def test_a_fork_meanwhile_holds_no_client(start: Callable[[], Node]) -> None:
    """A client reads until its connection is closed, also by a child that was forked meanwhile."""
    node, stopped = start(), start()
    assert node.process.stdin is not None and node.process.stdout is not None
    os.kill(stopped.process.pid, signal.SIGSTOP)
    idle = node.files()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ask, replace(node.door, pid=stopped.process.pid), Request())
        until = time.monotonic() + SECONDS
        while node.files() < idle + 2 and time.monotonic() < until:  # its connection, and that to the server
            time.sleep(0.01)
        node.process.stdin.write("\n")
        node.process.stdin.flush()
        child = int(node.process.stdout.readline())
        os.kill(stopped.process.pid, signal.SIGCONT)
        try:
            assert waits.result()["pid"] == stopped.process.pid
        finally:
            os.kill(child, signal.SIGKILL)


def test_the_secret_is_asked_for(start: Callable[[], Node]) -> None:
    node = start()
    for wrong in ("0" * 32, node.door.secret[:-1] + "x", ""):
        with pytest.raises(NoAnswer):
            ask(replace(node.door, secret=wrong), Request())
    with connections(node.door, 1) as (one,):  # in drops
        for byte in node.door.secret + Request().line(node.door.pid).decode():
            one.sendall(byte.encode())
        assert one.recv(100).startswith(b'{"format"')


def test_a_squatted_socket_is_no_server(start: Callable[[], Node]) -> None:
    node = start()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as squatter, subprocess.Popen(["sleep", "100"]) as victim:
        try:
            squatter.bind(f"\0marline/{victim.pid}")
            squatter.listen()
            with pytest.raises(NoAnswer, match="refuses"):
                ask(replace(node.door, pid=victim.pid), Request())
        finally:
            victim.kill()


def test_a_line_without_an_end(start: Callable[[], Node]) -> None:
    node = start()
    with connections(node.door, 3, node.door.secret.encode() + b"x" * 10_000) as some:
        for one in some:
            with contextlib.suppress(ConnectionResetError):
                assert one.recv(10) == b""
    assert ask(node.door, Request())["pid"] == node.door.pid
