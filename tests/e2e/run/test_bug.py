# SPDX-License-Identifier: Apache-2.0
"""`marline bug`: one archive with what a report of a fault needs, and with nothing private in it."""

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SECONDS, Result, clean_environment

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from marline.bug import Privacy, hosts_of  # noqa: E402

# Everything private that the processes of these tests have.
PRIVATE = ("zelda", "hyrule", "ganon", "triforce", "ocarina", "10.11.12.13")


def private_environment(folder: Path) -> dict[str, str]:
    home = folder / "zelda" / "hyrule"
    home.mkdir(parents=True)
    return {
        "HOME": str(home),
        "USER": "zelda",
        "LOGNAME": "zelda",
        "API_TOKEN": "triforce-1234",
        "FAVOURITE": "ocarina",
        "SLURM_JOB_NAME": "ocarina",
        "LD_LIBRARY_PATH": f"{home}/lib",
        "MARLINE_JOB": "triforce-5678",
        "MARLINE_JOB_ADDRESS": "10.11.12.13:70",
        "MARLINE_NETWORK": "10.11.12.13",
        "MARLINE_TRACE_DIR": f"{home}/traces/triforce-1234",
        "OMP_TOOL_LIBRARIES": "/home/ganon/tool.so",
        "OMP_NUM_THREADS": "3",
    }


def members(archive: Path) -> dict[str, str]:
    """Its texts by name. Nothing private is in any of its bytes, tar's own included."""
    whole = subprocess.run(["xz", "-dc", archive], capture_output=True, check=True, timeout=SECONDS).stdout
    assert [word for word in PRIVATE if word.encode() in whole.lower()] == []
    host = os.uname().nodename
    assert host == "localhost" or not re.search(rf"\b{re.escape(host)}\b".encode(), whole)
    with tarfile.open(archive) as opened:
        return {Path(one.name).name: opened.extractfile(one).read().decode() for one in opened}


def test_what_is_in_it_and_what_is_not(marline: Callable[..., Result], tmp_path: Path) -> None:
    archive = tmp_path / "fault.tar.xz"
    result = marline("bug", "--output", archive, **private_environment(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"wrote {archive} (") and "Look at it before you send it" in result.stdout
    assert archive.stat().st_mode & 0o777 == 0o600

    texts = members(archive)
    assert list(texts) == ["info.txt", "versions.txt", "environment.txt"]
    assert all(f"\n  {name} " in result.stdout for name in texts)
    version = marline("--version").stdout.split()[1]
    assert f"version  {version}" in texts["info.txt"]
    for text in (texts["info.txt"], texts["environment.txt"]):
        assert "OMP_NUM_THREADS=3" in text
        assert "MARLINE_TRACE_DIR=HOME/traces/HIDDEN" in text
        assert "OMP_TOOL_LIBRARIES=/home/USER/tool.so" in text
        assert "MARLINE_NETWORK=ADDRESS" in text
    named = texts["environment.txt"].split("set, by name only:\n")[1].split()
    assert named == ["LD_LIBRARY_PATH", "MARLINE_JOB", "MARLINE_JOB_ADDRESS", "SLURM_JOB_NAME"]
    assert re.search(r"^libc +glibc \d", texts["versions.txt"], re.MULTILINE)
    assert re.search(r"^ +\d+ lib/libmarline.so$", texts["versions.txt"], re.MULTILINE)


def test_a_process_that_hangs(build: Path, marline: Callable[..., Result], compiled: Callable[..., Path],
                              tmp_path: Path) -> None:  # fmt: skip
    program = compiled("gcc-12", "waits.c", "-g", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline",
                       f"-Wl,-rpath,{build}/lib")  # fmt: skip
    archive = tmp_path / "fault.tar.xz"
    environment = clean_environment(**private_environment(tmp_path))
    for name in ("MARLINE_JOB", "MARLINE_JOB_ADDRESS", "MARLINE_NETWORK"):
        del environment[name]  # the process has no job
    with subprocess.Popen([program], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            pid = process.stdout.readline().strip()
            result = marline("bug", pid, "-o", archive, HOME=environment["HOME"], USER="zelda")
        finally:
            process.kill()
    assert result.returncode == 0, result.stderr
    texts = members(archive)
    assert list(texts)[3:] == ["ps.txt", "ps.json", "process.txt"]
    assert "waits_here" in texts["ps.txt"]
    assert json.loads(texts["ps.json"])["ranks"]
    assert re.search(r"^  /\S*/libmarline\.so\.", texts["process.txt"], re.MULTILINE)
    assert "  OMP_NUM_THREADS=3" in texts["process.txt"] and "  SLURM_JOB_NAME\n" in texts["process.txt"]


def test_a_process_without_marline_is_reported_all_the_same(marline: Callable[..., Result], tmp_path: Path) -> None:
    archive = tmp_path / "fault.tar.xz"
    with subprocess.Popen(["sleep", str(SECONDS)]) as process:
        try:
            result = marline("bug", str(process.pid), "-o", archive)
        finally:
            process.kill()
    assert result.returncode == 0, result.stderr
    assert "[exit status 125]" in members(archive)["ps.txt"]


def test_refusals(marline: Callable[..., Result], tmp_path: Path) -> None:
    there = tmp_path / "there.tar.xz"
    there.write_text("kept")
    result = marline("bug", "-o", there)
    assert result.returncode == 125 and there.read_text() == "kept"
    assert result.stderr == f"marline: {there} is there already; name another file: --output FILE\n"
    result = marline("bug", "4194305", "-o", tmp_path / "none.tar.xz")
    assert result.returncode == 125 and not (tmp_path / "none.tar.xz").exists()
    assert result.stderr.startswith("marline: no process 4194305 on this machine")
    result = marline("bug", "-o", tmp_path / "no" / "folder.tar.xz")
    assert result.returncode == 125
    assert result.stderr == f"marline: {tmp_path}/no/folder.tar.xz: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rank 0 on castle7.hyrule.org, rank 1 on castle7", "rank 0 on HOST, rank 1 on HOST"),
        ("castle and castle77, Ian and Hans", "castle and castle77, Ian and Hans"),
        ("/scratch/an/x /scratch/an_old an@here", "/scratch/USER/x /scratch/USER_old USER@here"),
        ("0.0.0.0:80, 4.1.4, from 10.1.2.3.", "ADDRESS:80, 4.1.4, from ADDRESS."),
        ("red\x1b[31m", "red?[31m"),
    ],
)
def test_words_of_other_nodes_and_short_names(text: str, expected: str) -> None:
    ranks = [{"host": "castle7.hyrule.org", "workers": [{"host": "castle8"}]}]
    hosts = hosts_of(json.dumps({"absent": {"3": "no relay on castle9"}, "ranks": ranks}))
    assert hosts == {"castle7.hyrule.org", "castle8", "castle9"}
    assert Privacy([{"USER": "an"}], [], hosts).applied(text) == expected
