# SPDX-License-Identifier: Apache-2.0
"""Jobs on networks that are not kind: processes that are none of the job connect to all that listens, and links are cut
without a word. Each test has networks of its own (network_support.py)."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import network_support
import pytest
from conftest import EXHAUSTIVE, SECONDS, clean_environment
from nodes_support import Jobs, built, jobs  # noqa: F401  (a fixture)

STARTS = 40 if EXHAUSTIVE else 2
NOBODY = 65534

pytestmark = pytest.mark.skipif(network_support.why_not() is not None, reason=str(network_support.why_not()))

# In a network of its own: one that connects to all that listens, meanwhile the job again and again.
ATTACKED = """
user=$1 attacker=$2 python=$3 starts=$4; shift 4
$python $attacker $user 1 & other=$!
for start in $(seq $starts); do "$@" || { echo "start $start: $?" >&2; break; }; done
kill $other
"""


@pytest.mark.parametrize(("user", "nodes_as"), [(0, "apart"), (NOBODY, "")])
def test_strangers_do_not_stop_a_start(jobs, compiled, user, nodes_as):
    if user and os.geteuid() != 0:
        pytest.skip("only root can be another user")
    program = built(compiled, "gcc", "nodes_sum.c")
    made_up = ["--nodes-as", nodes_as] if nodes_as else []
    words = [jobs.command, "run", "-n", "4", "--devices=nodes", *made_up, "--", str(program)]
    attacker = str(Path(network_support.__file__))
    attacked = ["sh", "-c", ATTACKED, "sh", str(user), attacker, sys.executable, str(STARTS), *words]
    result = jobs.watched(network_support.up(*attacked), "", None, {"OMP_TARGET_OFFLOAD": "mandatory"})
    lines = [line for line in result.stderr.splitlines() if not line.endswith("cores")]
    assert lines == [], result.stderr
    assert result.returncode == 0


@pytest.fixture
def pair():
    if os.geteuid() != 0:
        pytest.skip("two hosts take root")
    try:
        made = network_support.Pair()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"{' '.join(error.cmd[4:])}: {error.stderr.strip()}")
    yield made
    made.close()


@pytest.mark.parametrize("what", ["long", "copies", "regions"])
def test_a_cut_link_ends_the_job_with_a_line(jobs: Jobs, compiled, pair, what):
    """On both hosts: neither hears of the cut."""
    program = built(compiled, "gcc", "nodes_cut.c")
    started = [
        subprocess.Popen(pair.on(number, *jobs.preloaded(), str(program), what), text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE,
                         env=clean_environment(MARLINE_DEVICES="nodes", MARLINE_JOB="0123456789abcdef" * 2,
                                               MARLINE_JOB_COUNT="2", MARLINE_JOB_NUMBER=str(number),
                                               MARLINE_JOB_ADDRESS=f"tcp:{pair.ADDRESSES[0]}:7007",
                                               MARLINE_HOST_TIMEOUT="2s", MARLINE_NODES_AS="head,far",
                                               OMP_TARGET_OFFLOAD="mandatory"))
        for number in range(2)
    ]  # fmt: skip
    try:
        assert started[0].stdout.readline().startswith("ready")
        pair.cut()
        said = [process.communicate(timeout=SECONDS)[1] for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    silent = "has not been heard of for 2 s: its machine is down, or the network is cut"
    assert re.search(rf"device 0 \(node, process 1 of the job on far\) has gone, .*: it {silent}", said[0]), said
    assert re.search(rf"process 0 of the job, on head, {silent}", said[1]), said
    assert [process.returncode for process in started] == [1, 1]


@pytest.mark.parametrize("what", ["long", "copies"])
def test_a_stopped_worker_is_no_dead_machine(jobs: Jobs, compiled, what):
    """It is stopped for longer than that, in the midst of copies too, and goes on."""
    program = built(compiled, "gcc", "nodes_cut.c")
    words = [jobs.command, "run", "-n", "2", "--devices=nodes", "--nodes-as", "apart", "--", str(program), what]
    with subprocess.Popen(words, env=clean_environment(MARLINE_HOST_TIMEOUT="1s"), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        worker = int(process.stdout.readline().split()[1])
        os.kill(worker, signal.SIGSTOP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=4)
        os.kill(worker, signal.SIGCONT)
        process.terminate()
        stderr = process.communicate(timeout=SECONDS)[1]
    assert "has gone" not in stderr
