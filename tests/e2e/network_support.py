# SPDX-License-Identifier: Apache-2.0
"""Networks of their own for tests: namespaces of Linux. What happens there reaches no other network, and no other
network is reached. As root, or where users may make namespaces (unshare -r); else the tests are skipped with the
reason.

Run as a program, it connects to everything that listens in its network, as test_nodes_network.py says."""

import contextlib
import os
import random
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator

ALONE = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
LISTENS_UNIX, LISTENS_TCP = "00010000", "0A"  # /proc/net/unix: flags; /proc/net/tcp: state
MOST_OPEN = 300


def why_not() -> str | None:
    """Why this process cannot make networks, or None."""
    try:
        tried = subprocess.run([*ALONE, "sh", "-c", "ip link set lo up"], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return f"{error.filename} is missing"
    return f"{' '.join(ALONE)}: {tried.stderr.strip()}" if tried.returncode else None


def up(*words: str) -> list[str]:
    """The words that run a command in a network that has a loopback only."""
    return [*ALONE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *words]


class Pair:
    """Two hosts and a switch between them. `cut` takes the second one off the switch: no packet arrives, and neither
    host hears of that."""

    ADDRESSES = ("10.9.9.1", "10.9.9.2")

    def __init__(self) -> None:
        self.switch, *self.hosts = (self._network() for _ in range(3))
        self._ip(self.switch, "link", "add", "middle", "type", "bridge")
        self._ip(self.switch, "link", "set", "middle", "up")
        for number, host in enumerate(self.hosts):
            self._ip(self.switch, "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns",
                     str(host.pid))  # fmt: skip
            self._ip(self.switch, "link", "set", f"port{number}", "master", "middle", "up")
            self._ip(host, "link", "set", "lo", "up")
            self._ip(host, "addr", "add", f"{self.ADDRESSES[number]}/24", "dev", "eth0")
            self._ip(host, "link", "set", "eth0", "up")

    def on(self, number: int, *words: str) -> list[str]:
        return self._inside(self.hosts[number], *words)

    def cut(self) -> None:
        self._ip(self.switch, "link", "set", "port1", "nomaster")

    def close(self) -> None:
        for holder in (self.switch, *self.hosts):
            holder.kill()
            holder.wait()

    @staticmethod
    def _network() -> subprocess.Popen:
        holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE)
        assert holder.stdout is not None
        holder.stdout.readline()
        return holder

    @staticmethod
    def _inside(holder: subprocess.Popen, *words: str) -> list[str]:
        return ["nsenter", "-t", str(holder.pid), "-n", *words]

    def _ip(self, holder: subprocess.Popen, *words: str) -> None:
        subprocess.run(self._inside(holder, "ip", *words), check=True, capture_output=True, text=True)


# The other side -------------------------------------------------------------------------------------------------------


def listeners() -> Iterator[tuple[int, object]]:
    """Of this network: their family and address."""
    with open("/proc/net/unix") as table:
        for row in (line.split() for line in table):
            if len(row) == 8 and row[3] == LISTENS_UNIX and row[7].startswith("@"):
                yield socket.AF_UNIX, "\0" + row[7][1:]
    with open("/proc/net/tcp") as table:
        for row in (line.split() for line in table):
            if row[3] == LISTENS_TCP:
                yield socket.AF_INET, ("127.0.0.1", int(row[1].split(":")[1], 16))


def connect_without_end(user: int, draw: random.Random) -> None:
    """Silent connections, and ones that say nonsense; the oldest of many are closed."""
    if user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    opened: deque[socket.socket] = deque()
    while True:
        for family, address in listeners():
            one = socket.socket(family, socket.SOCK_STREAM)
            one.setblocking(False)
            opened.append(one)
            with contextlib.suppress(OSError):
                one.connect(address)
            with contextlib.suppress(OSError):
                one.send(draw.randbytes(draw.choice([0, 0, 7, 40, 48, 500])) or b"")
            if len(opened) > MOST_OPEN:
                opened.popleft().close()
        time.sleep(0.002)


if __name__ == "__main__":
    connect_without_end(int(sys.argv[1]), random.Random(int(sys.argv[2])))
