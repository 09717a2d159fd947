# SPDX-License-Identifier: Apache-2.0
"""A Slurm of two nodes for the length of a test module, all on this machine: its daemons, their key, ports and files
are its own. Both nodes have the same machine's name and folder for temporary files, so PMIx, which wants one for each
node, starts ranks on one node only."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conftest import SECONDS, clean_environment

NODES = ("n1", "n2")
PATH = f"{os.environ['PATH']}:/usr/sbin"
PROGRAMS = {name: shutil.which(name, path=PATH) for name in ("munged", "slurmctld", "slurmd", "srun")}

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
TaskProlog={folder}/prolog
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
    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def words(self, mpi: str, ranks: int) -> list[str]:
        """How srun starts that many processes, on both nodes where that can be. `mpi`: of --mpi."""
        where = ["-w", NODES[0], "-O"] if mpi == "pmix" else ["-N", str(len(NODES))]
        return ["srun", f"--mpi={mpi}", "-n", str(ranks), *where]

    def ask(self, *words: str) -> str:
        """What one of Slurm's commands says."""
        return subprocess.run(words, env=clean_environment(**self.environment), capture_output=True, text=True,
                              timeout=SECONDS, check=False).stdout  # fmt: skip

    @contextmanager
    def daemon(self, name: str, *arguments: str | Path) -> Iterator[subprocess.Popen]:
        words = [PROGRAMS[name], *map(str, arguments)]
        with open(self.folder / "said", "a") as said, subprocess.Popen(
            words, env=clean_environment(PATH=PATH, **self.environment), stdin=subprocess.DEVNULL, stdout=said,
            stderr=said
        ) as process:
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()

    def write_prolog(self) -> None:
        """The site's script, which srun runs before each task: it puts TEST_COMPAT in front of the library path."""
        path = self.folder / "prolog"
        path.write_text('#!/bin/sh\n'
                        '[ -z "$TEST_COMPAT" ] || echo "export LD_LIBRARY_PATH=$TEST_COMPAT:$LD_LIBRARY_PATH"\n')
        path.chmod(0o755)

    def prepare(self) -> None:
        self.folder.chmod(0o755)  # munge refuses a socket where not everybody can reach it
        for name in ("state", *NODES):
            (self.folder / name).mkdir()
        self.write_prolog()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        Path(self.environment["SLURM_CONF"]).write_text(
            CONFIGURATION.format(host=host, folder=self.folder, ports=free_ports(3)))  # fmt: skip

    def await_start(self, daemons: list[subprocess.Popen]) -> None:
        deadline = time.monotonic() + SECONDS
        while self.ask("sinfo", "-h", "-o", "%t %D").split() != ["idle", str(len(NODES))]:
            ended = [daemon.args for daemon in daemons if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                said = (self.folder / "said").read_text()[-4000:]
                pytest.fail(f"Slurm does not start: {ended or 'its nodes do not come'}\n{said}")
            time.sleep(0.1)


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    if os.geteuid() != 0 or None in PROGRAMS.values():
        pytest.skip("Slurm's daemons are not here, or not for this user")
    with ExitStack() as stack:
        found = Slurm(Path(stack.enter_context(TemporaryDirectory(prefix="slurm-"))))
        found.prepare()
        names = ("socket", "key-file", "pid-file", "seed-file", "log-file")
        munge = [f"--{name}={found.folder}/munge.{name.removesuffix('-file')}" for name in names]
        daemons = [("munged", "--foreground", "--force", *munge), ("slurmctld", "-D", "-i"),
                   *(("slurmd", "-D", "-N", node) for node in NODES)]  # fmt: skip
        found.await_start([stack.enter_context(found.daemon(*words)) for words in daemons])
        yield found
