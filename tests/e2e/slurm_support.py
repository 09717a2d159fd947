# SPDX-License-Identifier: Apache-2.0
"""A Slurm of two nodes for the length of a test module, all on this machine: its daemons, their key, ports and files are
its own. Both nodes have the same machine's name and folder for temporary files, so PMIx, which wants one for each node,
starts ranks on one node only."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

NODES = ("n1", "n2")
START = 30.0  # seconds
PATH = f"{os.environ['PATH']}:/usr/sbin"

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/%n
StateSaveLocation={folder}/state
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class Slurm:
    def __init__(self, configuration: Path):
        self.environment = {"SLURM_CONF": str(configuration)}

    def words(self, mpi: str, ranks: int) -> list[str]:
        """How srun starts that many processes, on both nodes where that can be. `mpi`: of --mpi."""
        where = ["-w", NODES[0], "-O"] if mpi == "pmix" else ["-N", str(len(NODES))]
        return ["srun", f"--mpi={mpi}", "-n", str(ranks), *where]

    def is_ready(self) -> bool:
        said = subprocess.run(["sinfo", "-h", "-o", "%t %D"], env=os.environ | self.environment, capture_output=True,
                              text=True, check=False)  # fmt: skip
        return said.stdout.split() == ["idle", str(len(NODES))]


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _make_key(folder: Path) -> None:
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)


@contextmanager
def _daemon(*words: str | Path, **environment: str) -> Iterator[subprocess.Popen]:
    with subprocess.Popen([shutil.which(words[0], path=PATH), *map(str, words[1:])], env=os.environ | environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory) -> Iterator[Slurm]:
    if os.geteuid() != 0 or not all(shutil.which(name, path=PATH) for name in ("munged", "slurmctld", "slurmd", "srun")):
        pytest.skip("Slurm's daemons are not here, or not for this user")
    folder = tmp_path_factory.mktemp("slurm")
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o755)  # munge looks at who can write where its socket lies
    (folder / "state").mkdir()
    for node in NODES:
        (folder / node).mkdir()
    _make_key(folder)
    configuration = folder / "slurm.conf"
    host = socket.gethostname().split(".")[0]
    configuration.write_text(CONFIGURATION.format(host=host, folder=folder, ports=_free_ports(3)))
    found = Slurm(configuration)
    with ExitStack() as stack:
        start = lambda *words: stack.enter_context(_daemon(*words, PATH=PATH, **found.environment))  # noqa: E731
        munge = [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "key-file", "pid-file", "seed-file",
                                                                               "log-file")]  # fmt: skip
        daemons = [start("munged", "--foreground", "--force", *munge),
                   start("slurmctld", "-D", "-i", "-f", configuration),
                   *(start("slurmd", "-D", "-N", node, "-f", configuration) for node in NODES)]  # fmt: skip
        deadline = time.monotonic() + START
        while not found.is_ready():
            ended = [daemon.args for daemon in daemons if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                pytest.skip(f"Slurm does not start on this machine: {ended or 'its nodes do not come'}")
            time.sleep(0.1)
        yield found
