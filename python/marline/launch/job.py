# SPDX-License-Identifier: Apache-2.0
"""A job without MPI: one process runs the program, the others are its devices (docs/guide/nodes.md). All of them are
started here, on this machine, and told of each other by variables (offload/wire/base/job.hpp). Standard library
only."""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO

from marline.errors import USAGE, Refusal, say
from marline.launch import child, stopping
from marline.launch.arrival import next_signal
from marline.launch.node import LOCAL_RANK
from marline.launch.stopping import ENDING, Stopped

NODES, CLUSTER = "nodes", "cluster"
CLUSTERS_OF_KINDS = ("cluster:gpu", "cluster:all")  # of members
# The other words of MARLINE_DEVICES (offload/registry/device_list.cpp): some take a number, some stand alone.
COUNTED, SINGLE, ALONE = ("host", "process"), ("libomptarget",), ("auto", "none")
MOST_DEVICES = 256
NUMBER, COUNT = "MARLINE_JOB_NUMBER", "MARLINE_JOB_COUNT"
# A process of a job sets it for the programs that it starts (offload/device/remote/job/job.cpp).
TAKEN = "MARLINE_JOB_TAKEN"
# What makes a process a rank. Workers keep the variables that tell how many share the node.
LOCAL_SIZES = tuple(size for _, size in LOCAL_RANK)
MPI_VARIABLES = ("OMPI_COMM_", "PMI_", "PMIX_", "MPI_LOCAL", "SLURM_PROCID", "SLURM_LOCALID")
MOST_WORKERS = 255  # devices of a program, less one
LAST_WORDS = 5.0  # seconds in which the others end by themselves when one process of the job has ended
LAST_WORDS_IF_STOPPED = 1.0  # the same, if a signal has stopped the job


def wants_nodes(devices: str | None) -> bool:
    """Whether the list names `nodes` or `cluster`: then every process but the first one that is started is a device, or
    a part of one."""
    words = (devices or os.environ.get("MARLINE_DEVICES", "")).split(",")
    return NODES in words or wants_cluster(devices)


def wants_cluster(devices: str | None) -> bool:
    """Whether all of them are to be one device."""
    words = (devices or os.environ.get("MARLINE_DEVICES", "")).split(",")
    return any(word in words for word in (CLUSTER, *CLUSTERS_OF_KINDS))


def own_workers(devices: str | None) -> tuple[int, str | None]:
    """How many workers the program gets for itself (`nodes:K`), and the list as the program is to have it: for a
    program that uses MPI each rank has its own, and MPI's processes stay as they are."""
    if not devices:
        return 0, devices
    count, words = 0, []
    for word in devices.split(","):
        name, colon, number = word.partition(":")
        if name in (NODES, CLUSTER) and colon and word not in CLUSTERS_OF_KINDS:
            if not number.isdecimal() or not 0 < int(number) <= MOST_WORKERS:
                raise Refusal(f"--devices {devices}: {word!r} needs a number from 1 to {MOST_WORKERS} behind the colon")
            count, word = count + int(number), name
        elif word not in (NODES, CLUSTER, *CLUSTERS_OF_KINDS):
            _refuse_unknown(devices, word)
        if name in (NODES, CLUSTER) and any(known in words for known in (NODES, CLUSTER, *CLUSTERS_OF_KINDS)):
            raise Refusal(f"--devices {devices} names nodes twice; each worker is one device, and `cluster` has all of "
                          "them")  # fmt: skip
        words.append(word)
    return count, ",".join(words)


def _refuse_unknown(devices: str, word: str) -> None:
    """Libmarline-target refuses such words, too, but it is not in a program without target regions."""
    name, colon, number = word.partition(":")
    if name in COUNTED and colon and not (number.isdecimal() and 0 < int(number) <= MOST_DEVICES):
        raise Refusal(f"--devices {devices}: {word!r} needs a number from 1 to {MOST_DEVICES} behind the colon", USAGE)
    if name in COUNTED or word in SINGLE or devices in ALONE:
        return
    counted = [form for name in COUNTED for form in (name, f"{name}:N")]
    nodes = [NODES, f"{NODES}:K", CLUSTER, f"{CLUSTER}:K", *CLUSTERS_OF_KINDS]
    raise Refusal(f'--devices "{devices}" is not usable: expected {", ".join(ALONE)}, or a list of '
                  f"{', '.join([*counted, *nodes, *SINGLE])}; no device is named {word!r}", USAGE)  # fmt: skip


def named_nodes(names: str | None, count: int) -> str | None:
    """The list of made-up nodes, with `apart` as one for each process."""
    return ",".join(str(number) for number in range(count)) if names == "apart" else names


def is_member() -> bool:
    """Whether this process belongs to a job, by its launcher's variables."""
    return NUMBER in os.environ and TAKEN not in os.environ


def refuse_unfit(count: int, nodes_as: str | None) -> None:
    """What each process of the job would refuse by a line of its own."""
    if count > MOST_WORKERS + 1:
        raise Refusal(f"-n {count}: a program can have {MOST_WORKERS} workers, so a job has at most {MOST_WORKERS + 1} "
                      "processes")  # fmt: skip
    _refuse_names(count, nodes_as)


def refuse_wire(wire: str) -> None:
    """The value of MARLINE_WIRE, for processes that no launcher of MPI's starts."""
    if wire.lower() == "mpi":
        raise Refusal("MARLINE_WIRE=mpi: these processes are no job of MPI's; leave it out, or start them by "
                      "`-n N --mpi openmpi` or `-n N --mpi mpich`")  # fmt: skip


def refuse_unfit_ranks(count: int, nodes_as: str | None) -> None:
    """The same for ranks that are each other's devices."""
    if count > MOST_WORKERS:
        raise Refusal(f"-n {count}: ranks that are each other's devices are at most {MOST_WORKERS}")
    _refuse_names(count, nodes_as)


def _refuse_names(count: int, nodes_as: str | None) -> None:
    names = (nodes_as or "").count(",") + 1
    if nodes_as and names != count:
        raise Refusal(f"--nodes-as {nodes_as} names {names} nodes, but the job has {count} processes: name the node of "
                      "each")  # fmt: skip


def variables(number: int, count: int, secret: str, meeting: str) -> dict[str, str]:
    """`meeting`: the name of the socket where the processes meet, which everybody on the machine can see."""
    return {"MARLINE_JOB": secret, NUMBER: str(number), COUNT: str(count),
            "MARLINE_JOB_ADDRESS": f"unix:@marline-{meeting}"}  # fmt: skip


def of_worker(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what makes the program itself a rank of MPI's."""
    return {name: value for name, value in environment.items()
            if name in LOCAL_SIZES or not name.startswith(MPI_VARIABLES)}  # fmt: skip


def run(words: Sequence[str], count: int, environment: Mapping[str, str], output: IO[str] | None = None,
        are_commands: bool = False) -> int:  # fmt: skip
    """Runs the command `count` times, as a job. Returns the wait status of number 0, which has the standard input, or
    if it has not failed that of the first other one that has. `output`: where number 0's standard output goes, if not
    to ours. Signals: as after child.run. `are_commands`: they are `marline run` each, which heed SIGINT some time after
    their start, and get it then."""
    secret, meeting = secrets.token_hex(16), secrets.token_hex(8)
    environment = {name: value for name, value in environment.items() if name != TAKEN}  # this is another job
    late = stopping.late_variables() if are_commands else {}
    signal.pthread_sigmask(signal.SIG_BLOCK, child.WATCHED)
    end_with_us = child.ends_with_this_process()
    members = [
        subprocess.Popen(words, env={**(environment if number == 0 else of_worker(environment)),
                                     **variables(number, count, secret, meeting), **late},
                         stdin=None if number == 0 else subprocess.DEVNULL,
                         stdout=output if number == 0 else None,
                         close_fds=number != 0,  # a rank speaks to its launcher by one
                         preexec_fn=lambda: child.become_program(end_with_us, late and {signal.SIGINT}))
        for number in range(count)
    ]  # fmt: skip
    try:
        came = signal.sigpending() & stopping.ending()  # before one of them was there, perhaps
        if came:
            raise Stopped(min(came))
        return _attend(members)
    finally:
        for member in members:
            if member.poll() is None:
                member.kill()
                member.wait()
        child.drain()
        if came:
            child.listen()


def _attend(members: list[subprocess.Popen]) -> int:
    """Waits until all have ended; for a while only, once one has failed or number 0 has ended. What became of number 0
    counts most: it ends itself when a worker has gone, and the workers end when number 0 has."""
    failed: int | None = None  # the status of the first worker that has
    who, stopped = 0, False
    deadline = float("inf")
    while any(member.poll() is None for member in members) and time.monotonic() < deadline:
        arrived = next_signal(child.WATCHED, max(0.0, min(deadline - time.monotonic(), 1.0)))
        if arrived is not None and arrived.si_signo != signal.SIGCHLD and not child.child_has_it(arrived):
            members[0].send_signal(arrived.si_signo)
        for number, member in enumerate(members[1:], 1):
            status = _wait_status(member)
            if failed is None and status not in (None, 0):
                failed, who = status, number
        if deadline == float("inf") and (failed is not None or members[0].poll() is not None):
            stopped = _stop_with_first(members)
            deadline = time.monotonic() + (LAST_WORDS_IF_STOPPED if stopped else LAST_WORDS)
    late = [str(number) for number, member in enumerate(members) if member.poll() is None]
    status = _wait_status(members[0]) or failed
    if stopped:
        return status or 0
    if late and failed is not None:
        how = child.outcome(failed)
        say(f"process {', '.join(late)} of the job has not ended after process {who} ({how}), and is killed")
    elif late and status is None:
        say(f"process {', '.join(late)} of the job has not ended with the program, and is killed")
        return 1 << 8
    return status or 0


def _stop_with_first(members: list[subprocess.Popen]) -> bool:
    """Whether somebody has stopped number 0. Then the others are stopped, too: they may wait for it to join the job,
    which signals do not end. Only this process reports that a program was killed."""
    number = -(members[0].poll() or 0)
    if number == signal.SIGKILL:
        say(f"process 0 of the job, the program, ended with signal {number} ({stopping.words_for(number)})")
    if number not in ENDING:
        return False
    for member in members[1:]:
        member.send_signal(signal.SIGTERM)
    return True


def _wait_status(member: subprocess.Popen) -> int | None:
    code = member.poll()
    if code is None:
        return None
    return -code if code < 0 else code << 8
