# SPDX-License-Identifier: Apache-2.0
"""`marline report --otf2` and `--paraver` of traces made by hand: OTF2's own tool prints the archive, a reader made
from Paraver's description of the format reads the other."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SECONDS
from handmade import save, suspended_receive
from handmade_kinds import TRACES
from handmade_ranks import two_ranks
from in_process import report
from paraver_format import read_paraver
from profile_formats import read_firefox, read_speedscope

from marline.trace.exports import otf2_archive


@pytest.fixture
def otf2_print() -> str:
    pytest.importorskip("otf2")
    tool = shutil.which("otf2-print")
    if tool is None:
        pytest.skip("otf2-print is not installed (Debian: otf2-tools)")
    return tool


def printed(tool: str, folder: Path, *options: str) -> str:
    words = [tool, *options, folder / "traces.otf2"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert result.stderr == ""
    return result.stdout


def events_of(text: str) -> dict[int, list[tuple[int, str, str]]]:
    """By location: time, event and what it is about."""
    found: dict[int, list[tuple[int, str, str]]] = {}
    for event, location, time, rest in re.findall(r"^(\w+) +(\d+) +(\d+) +(.*)$", text, re.MULTILINE):
        found.setdefault(int(location), []).append((int(time), event, re.sub(r" <\d+>", "", rest)))
    return found


def test_otf2(tmp_path: Path, otf2_print: str) -> None:
    out = tmp_path / "out"
    result = report(two_ranks(tmp_path / "trace"), "--otf2", out)
    assert result.returncode == 0
    assert result.stderr == f"marline: {out}: OTF2 archive: open its traces.otf2, or print it by otf2-print\n"
    definitions = re.sub(r" <\d+>", "", printed(otf2_print, out, "-G"))
    assert "Ticks per Seconds: 1000000000" in definitions
    assert re.findall(r'^LOCATION +(\d) +Name: "(.*?)", .*Group: "(.*?)"', definitions, re.MULTILINE) == [
        ("0", "thread 0", "rank 0"), ("1", "thread 1", "rank 0"), ("2", "thread 0", "rank 1")]
    roles = dict(re.findall(r'^REGION +\d+ +Name: "(.*?)".*Role: (\w+), Paradigm: \w+', definitions, re.MULTILINE))
    assert roles == {"implicit task": "PARALLEL", "step": "CODE", "gemm": "TASK", "trsm": "TASK",
                     "MPI_Send": "FUNCTION", "MPI_Recv": "FUNCTION"}  # fmt: skip
    events = events_of(printed(otf2_print, out))
    assert [one for one in events[1] if 20 <= one[0] <= 60][1:-1] == [
        (20, "ENTER", 'Region: "trsm"'), (30, "ENTER", 'Region: "MPI_Send"'),
        (30, "MPI_SEND", 'Receiver: 1 ("thread 0"), Communicator: "MPI_COMM_WORLD", Tag: 7, Length: 64'),
        (40, "LEAVE", 'Region: "MPI_Send"'), (60, "LEAVE", 'Region: "trsm"')], events[1]
    assert [one for one in events[2] if 20 <= one[0] <= 50] == [
        (20, "ENTER", 'Region: "MPI_Recv"'),
        (50, "MPI_RECV", 'Sender: 0 ("thread 0"), Communicator: "MPI_COMM_WORLD", Tag: 7, Length: 64'),
        (50, "LEAVE", 'Region: "MPI_Recv"')], events[2]


def test_otf2_without_the_package_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(otf2_archive.importlib, "import_module", missing)
    result = report(two_ranks(tmp_path / "trace"), "--otf2", tmp_path / "out")
    assert result.returncode == 125 and not (tmp_path / "out").exists()
    assert result.stderr == ("marline: --otf2 needs the Python package otf2 (No module named 'otf2'): python3 -m pip "
                             "install otf2\n")


def test_otf2_overwrites_nothing(tmp_path: Path, otf2_print: str) -> None:
    (tmp_path / "out").mkdir()
    trace = two_ranks(tmp_path / "trace")
    assert report(trace, "--otf2", tmp_path / "out").returncode == 0  # empty
    result = report(trace, "--otf2", tmp_path / "out")
    assert result.returncode == 125 and "is there already: name a new folder" in result.stderr


def test_paraver(tmp_path: Path) -> None:
    result = report(two_ranks(tmp_path / "trace"), "--paraver", tmp_path / "out.prv")
    assert result.returncode == 0
    assert result.stderr == (f"marline: {tmp_path}/out.prv: out.prv, with out.pcf and out.row beside it: open it in "
                             "Paraver (wxparaver)\n")
    found = read_paraver(tmp_path / "out")
    assert (found.length, found.nodes) == (200, ["node"])
    assert found.states == {
        "rank 0 thread 0": [(0, 1, "Running"), (1, 10, "Running"), (10, 110, "Running"), (110, 200, "Running")],
        "rank 0 thread 1": [(0, 20, "Running"), (20, 30, "Running"), (30, 40, "Blocking Send"), (40, 60, "Running"),
                            (60, 130, "Running"), (130, 180, "Running"), (180, 200, "Running")],
        "rank 1 thread 0": [(0, 10, "Running"), (10, 20, "Running"), (20, 50, "Waiting a message"),
                            (50, 100, "Running"), (100, 200, "Running")],
    }  # fmt: skip
    events = found.events["rank 0 thread 1"]
    assert [one for one in events if one[1] in ("Task", "MPI call")] == [
        (20, "Task", "trsm"), (30, "MPI call", "MPI_Send to 1 tag 7"), (40, "MPI call", "End"), (60, "Task", "End"),
        (130, "Task", "gemm"), (180, "Task", "End")]
    assert found.messages == [("rank 0 thread 1", "rank 1 thread 0", 30, 30, 20, 50, 64, 7)]


def test_paraver_of_two_nodes_and_suspended_calls(tmp_path: Path) -> None:
    """Rank 1 is on a node that is named before that of rank 2, which is rank 0's."""
    for rank, host in ((0, "a"), (1, "b"), (2, "a")):
        save(tmp_path, suspended_receive(), rank, host=host)
    assert report(tmp_path, "--paraver", tmp_path / "out").returncode == 0
    found = read_paraver(tmp_path / "out")
    assert found.nodes == ["a", "b"] and found.messages == []
    for rank in range(3):
        lane = found.states[f"rank {rank} suspended in MPI 0"]
        assert lane == [(0, 110, "Idle"), (110, 160, "Waiting a message")]
        assert (110, 160, "Waiting a message") not in found.states[f"rank {rank} thread 0"]


@pytest.mark.parametrize("kind", TRACES)
def test_each_format_of_each_kind_of_program(tmp_path: Path, kind: str) -> None:
    """With and without tasks, MPI, devices. What the readers refuse fails."""
    trace = TRACES[kind](tmp_path)
    words = [word for name in ("speedscope", "firefox", "paraver", "sqlite", "dot")
             for word in (f"--{name}", tmp_path / f"out.{name}")]  # fmt: skip
    result = report(trace, *words)
    assert result.returncode == 0 and len(result.stderr.splitlines()) == 5, result.stderr
    bars = read_speedscope(json.loads((tmp_path / "out.speedscope").read_text()))
    markers, _ = read_firefox(json.loads((tmp_path / "out.firefox").read_text()))
    assert sorted(bar[:4] for bar in bars) == sorted(bar[:4] for bar in markers)
    found = read_paraver(tmp_path / "out")
    assert set(found.states) <= {bar[0] for bar in bars}
    if kind == "device":
        assert {bar[0] for bar in bars} > {"rank 0 host: transfers", "rank 0 device 0 (process): kernels"}
        assert found.states["rank 0 device 0 (process): transfers"] == [(0, 10, "Idle"), (10, 30, "Memory transfer")]
