# SPDX-License-Identifier: Apache-2.0
"""Devices in traces and in `marline ps`: what devices that are processes do lies in lanes of its own, by their own
clock; and what waits for a device says for which, and for what."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CROWDED, SECONDS, Result, clean_environment, device_flags

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.passes.devices import FROM_DEVICE, KERNEL, TO_DEVICE  # noqa: E402
from marline.trace.views.export import load  # noqa: E402
from marline.trace.views.timeline import KERNEL_RUN, TRANSFER, timeline  # noqa: E402

BLOCKS, BLOCK_BYTES, KERNELS_PER_BLOCK = 8, (1 << 18) * 8, 2  # of devices_lanes.c


@pytest.fixture(scope="module")
def recorded(build: Path, compiled: Callable[..., Path],
             tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """recorded("process:2"): the trace of devices_lanes.c on these devices."""
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no devices")
    program = compiled("gcc-12", "devices_lanes.c", "-O2", "-g", "-fopenmp")
    made: dict[str, Path] = {}

    def record(devices: str) -> Path:
        if devices not in made:
            folder = tmp_path_factory.mktemp("trace") / "trace"
            words = [build / "bin" / "marline", "trace", "-t", "2", "--devices", devices, "-o", folder,
                     program]
            environment = clean_environment(**CROWDED, OMP_TARGET_OFFLOAD="mandatory")
            result = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True,
                                    timeout=SECONDS, check=False)  # fmt: skip
            assert result.returncode == 0, result.stderr
            assert f"sum {BLOCKS * 32769}" in result.stdout
            made[devices] = folder
        return made[devices]

    return record


@pytest.mark.parametrize("devices", ["process:2", "host:2"])
def test_operations_of_devices(recorded: Callable[[str], Path], devices: str) -> None:
    """Every block goes there and back once, by as many bytes as it has; each kernel runs after the copy to the device
    and before the one back; each device has its half."""
    analysis = Analysis(load(recorded(devices)))
    found, trace = analysis["devices"], analysis.trace
    kind = devices.partition(":")[0]
    assert found.types == {(0, 0): kind, (0, 1): kind}
    whole = found.bytes == BLOCK_BYTES
    for device in (0, 1):
        mine = found.device == device
        to, back = (np.flatnonzero(mine & whole & (found.what == way)) for way in (TO_DEVICE, FROM_DEVICE))
        kernels = np.flatnonzero(mine & (found.what == KERNEL))
        assert len(to) == len(back) == BLOCKS // 2
        assert len(kernels) == BLOCKS // 2 * KERNELS_PER_BLOCK
        assert found.end[to].min() <= found.start[kernels].min()
        assert found.end[kernels].max() <= found.start[back].max()
    assert np.all(found.start <= found.end)
    assert found.start.min() >= 0 and found.end.max() <= trace.time.max()
    names = {found.names[row] for row in found.name[found.what == KERNEL].tolist()}
    assert len(names) == KERNELS_PER_BLOCK and all("devices_lanes.c:" in name for name in names), names
    assert no_overlap(found)


def no_overlap(found: Any) -> bool:
    order = np.lexsort((found.start, found.lane, found.what == KERNEL, found.device))
    same = np.ones(len(order) - 1, dtype=bool)
    for key in (found.lane, found.what == KERNEL, found.device):
        same &= key[order][1:] == key[order][:-1]
    return bool(np.all(found.start[order][1:][same] >= found.end[order][:-1][same]))


def test_constructs_hold_their_operations(recorded: Callable[[str], Path]) -> None:
    """Each operation belongs to a construct of its device, and lies between its begin and its end."""
    analysis = Analysis(load(recorded("process:2")))
    found, trace = analysis["devices"], analysis.trace
    begins, ends = trace.select("target_begin"), trace.select("target_end")
    opened = dict(zip(trace.global_task(begins, trace.field("target_begin", "construct", begins)).tolist(),
                      zip(trace.time[begins].tolist(),
                          trace.field("target_begin", "device", begins).tolist())))  # fmt: skip
    closed = dict(zip(trace.global_task(ends, trace.field("target_end", "construct", ends)).tolist(),
                      trace.time[ends].tolist()))
    assert len(opened) == BLOCKS * (2 + KERNELS_PER_BLOCK)
    assert set(opened) == set(closed)
    slack = 20_000  # of one clock against the other
    for row, construct in enumerate(found.construct.tolist()):
        begin, device = opened[construct]
        assert device == found.device[row]
        assert begin - slack <= found.start[row] and found.end[row] <= closed[construct] + slack


def test_lanes_of_devices(recorded: Callable[[str], Path], tmp_path: Path) -> None:
    """Transfers and kernels have tracks of their own, which name the device; the drawing has them as well."""
    analysis = Analysis(load(recorded("process:2")))
    drawn, found = timeline(analysis), analysis["devices"]
    titles = {(rank, track): name for rank, track, name in drawn.tracks}
    for category, what in ((TRANSFER, "transfers"), (KERNEL_RUN, "kernels")):
        rows = np.flatnonzero(drawn.slices.category == category)
        assert len(rows) == int(np.sum((found.what == KERNEL) == (category == KERNEL_RUN)))
        named = {titles[0, track] for track in drawn.slices.track[rows].tolist()}
        assert {f"device {device} (process): {what}" for device in (0, 1)} <= named
    from marline.trace.views import gantt

    gantt.write_svg(analysis["picture"], tmp_path / "lanes.svg")
    text = (tmp_path / "lanes.svg").read_text()
    for label in ("device 0 (process) transfers", "device 1 (process) kernels", "transfer from device",
                  "devices_lanes.c:"):
        assert label in text


def test_report_counts_transfers(recorded: Callable[[str], Path], build: Path) -> None:
    words = [build / "bin" / "marline", "report", recorded("process:2")]
    text = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    assert re.search(r"device 0 \(process\) +transfers to it +\d+ +8 MiB", text), text
    assert re.search(rf"transfers from it +{BLOCKS // 2} +8 MiB", text)
    assert re.search(rf"kernels +{BLOCKS // 2 * KERNELS_PER_BLOCK} ", text)
    document = json.loads(subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=SECONDS,
                                         check=True).stdout)
    assert [row["from_device"]["bytes"] for row in document["devices"]] == [BLOCKS // 2 * BLOCK_BYTES] * 2
    assert all(row["kernels"]["total_ns"] > 0 for row in document["devices"])


def test_events_leave_devices_out(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    program = compiled("gcc-12", "devices_lanes.c", "-O2", "-g", "-fopenmp")
    words = [build / "bin" / "marline", "trace", "--events", "task", "-t", "2", "--devices",
             "process:2", "-o", tmp_path / "trace", program]  # fmt: skip
    subprocess.run([str(word) for word in words], env=clean_environment(**CROWDED), capture_output=True,
                   timeout=SECONDS, check=True)
    analysis = Analysis(load(tmp_path / "trace"))
    assert len(analysis["tasks"].id) > 0 and len(analysis["devices"].start) == 0


@pytest.mark.parametrize(("mode", "kernels"), [("pause", 11), ("end", 11), ("pause_start", 13), ("level", 13)])
def test_pauses(build: Path, compiled: Callable[..., Path], tmp_path: Path, mode: str, kernels: int) -> None:
    """What a device has done before a pause or the end is recorded, whatever its buffers still hold then; what it does
    in the pause is not."""
    if not (build / "lib" / "marline" / "libmarline-target.so").exists():
        pytest.skip("this build has no devices")
    program = compiled("gcc-12", "devices_pause.c", "-fopenmp", f"-I{ROOT / 'include'}", "-ldl")
    words = [build / "bin" / "marline", "trace", "--devices", "process:1", "-o", tmp_path / "trace",
             program, mode]
    subprocess.run([str(word) for word in words], env=clean_environment(**CROWDED), capture_output=True,
                   timeout=SECONDS, check=True)
    analysis = Analysis(load(tmp_path / "trace"))
    found = analysis["devices"]
    assert int(np.sum(found.what == KERNEL)) == int(np.sum(found.what == FROM_DEVICE)) == kernels
    assert len(analysis.trace.select("target_begin")) == len(analysis.trace.select("target_end")) == kernels


# marline ps -----------------------------------------------------------------------------------------------------------


def unwrapped(result: Result) -> str:
    return " ".join(result.stdout.split())


def ps(build: Path, pid: int, *words: str) -> Result:
    command = [str(build / "bin" / "marline"), "ps", str(pid), "--seconds", "0.5", *words]
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=SECONDS,
                          check=False)


@contextmanager
def waiting_program(build: Path, compiled: Callable[..., Path], source: str, output: Path) -> Iterator[int]:
    """The process number of a program that waits for its devices, and that is ended after the block."""
    program = compiled("clang-19", source, "-g", "-fopenmp", *device_flags(build, "clang-19"))
    words = [build / "bin" / "marline", "run", "-t", "2", "--devices", "process:2", program]
    environment = clean_environment(**CROWDED, OMP_TARGET_OFFLOAD="mandatory")
    with output.open("w") as stream:
        process = subprocess.Popen([str(word) for word in words], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=stream, stderr=stream, start_new_session=True)  # fmt: skip
    try:
        until = time.monotonic() + SECONDS
        while not (found := re.search(r"pid (\d+)", output.read_text())):
            assert time.monotonic() < until and process.poll() is None, output.read_text()
            time.sleep(0.05)
        yield int(found[1])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ps_until(build: Path, pid: int, words: str) -> str:
    until = time.monotonic() + SECONDS
    text = unwrapped(ps(build, pid))
    while words not in text and time.monotonic() < until:
        text = unwrapped(ps(build, pid))
    return text


def test_ps_names_devices(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """A region that is suspended, two that are put aside, and a copy: all wait for device 1."""
    with waiting_program(build, compiled, "devices_wait.c", tmp_path / "output") as pid:
        text = ps_until(build, pid, "copy to device")
        assert "waits in kernel on device 1" in text, text
        assert "waits in copy to device 1, 4 KiB" in text
        assert re.search(r"2 constructs wait in kernel on device 1, put aside, the target region at "
                         r"\S*devices_wait\.c:\d+", text)
        document = json.loads(ps(build, pid, "--json").stdout)
        assert document["state"] == "waiting"
        assert [(one["device"], one["what"]) for one in document["ranks"][0]["asides"]] == [(1, "kernel")] * 2


def test_ps_outside_of_regions(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """A thread that waits for a device without being suspended is not taken for one that computes."""
    with waiting_program(build, compiled, "devices_alone.c", tmp_path / "output") as pid:
        text = ps_until(build, pid, "waits in kernel")
        assert "waits in kernel on device 0" in text and "WAITING" in text, text
