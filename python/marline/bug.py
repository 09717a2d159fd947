# SPDX-License-Identifier: Apache-2.0
"""`marline bug [PID]`: writes one archive with what a report of a fault needs: `marline info`, versions, the options in
the environment, and of a running process also `marline ps`. Nothing private: values of other variables are never read
into it, and what is left of names of users, hosts and homes in the texts is replaced (Privacy)."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import pwd
import re
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

from marline.errors import Refusal
from marline.layout import Layout

SECONDS = 240  # for one part; `marline ps` gives a job 120 s a look
SECONDS_OF_A_VERSION = 20
FOLDER = "marline-bug"  # in the archive
OPTION_PREFIXES = ("OMP_", "MARLINE_", "KMP_", "GOMP_")
OF_A_JOB = "MARLINE_JOB"  # set by `marline run` for its processes: the secret by which they meet, and addresses
# Of launchers, MPI libraries, their networks, GPUs and the loader: only their names are told.
NAMED_PREFIXES = ("OMPI_", "PMI_", "PMIX_", "PRTE_", "ORTE_", "HYDRA_", "HYDI_", "MPI", "I_MPI_", "SLURM_", "PBS_",
                  "LSB_", "FLUX_", "PALS_", "UCX_", "FI_", "MV2_", "CUDA_", "ROCR_", "HIP_", "LD_")  # fmt: skip
SECRET_NAMES = re.compile(r"SECRET|TOKEN|PASS|KEY|CREDENTIAL|MARLINE_JOB$")
COMMANDS = ("cc", "c++", "gfortran", "clang", "flang", "mpicc", "mpirun", "srun", "python3")
STATUS = ("State:", "Threads:", "VmPeak:", "VmRSS:", "Cpus_allowed_list:")
ABOUT = {
    "info.txt": "marline info: what is installed, the machine, the options in force",
    "versions.txt": "system, C library, compilers, MPI, and the files of this Marline",
    "environment.txt": "options by value; variables of launchers, MPI and the loader by name",
    "ps.txt": "marline ps --all: what the tasks of the process wait for",
    "ps.json": "the same for programs",
    "process.txt": "the process: its state, libraries and options",
}


def main(arguments: list[str], prefix: Path) -> int:
    about = ("Writes one archive with what a report of a fault needs, without names of users and hosts. Look at it, "
             "and send it with your report.")  # fmt: skip
    parser = argparse.ArgumentParser(prog="marline bug", description=about)
    parser.add_argument("pid", nargs="?", type=int, help="a process that runs or hangs: what its tasks wait for")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: marline-bug-DATE-TIME.tar.xz, here")
    chosen = parser.parse_args(arguments)
    output = Path(chosen.output or time.strftime("marline-bug-%Y%m%d-%H%M%S.tar.xz"))
    if output.exists():
        raise Refusal(f"{output} is there already; name another file: --output FILE")
    if chosen.pid is not None and not Path(f"/proc/{chosen.pid}").is_dir():
        raise Refusal(f"no process {chosen.pid} on this machine; marline ps lists those that run on Marline")
    environments, users = [dict(os.environ), environment_of(chosen.pid)], owners(chosen.pid)  # it may end meanwhile
    texts = collect(Layout(prefix), chosen.pid)
    privacy = Privacy(environments, users, hosts_of(texts.get("ps.json", "")))
    write(output, {name: privacy.applied(text) for name, text in texts.items()})
    tell(output, list(texts))
    return 0


def tell(output: Path, names: list[str]) -> None:
    print(f"wrote {output} ({(output.stat().st_size + 1023) // 1024} KiB):")
    for name in names:
        print(f"  {name:<16} {ABOUT[name]}")
    print("Names of users and hosts, home folders and addresses were replaced by USER, HOST, HOME, ADDRESS.")
    print(f"Look at it before you send it:  tar -xOf {output} | less")


# What goes into the archive -------------------------------------------------------------------------------------------


def collect(layout: Layout, pid: int | None) -> dict[str, str]:
    """The texts by the names of their files."""
    texts = {
        "info.txt": answer([str(layout.command), "info"]),
        "versions.txt": "\n".join(versions(layout)) + "\n",
        "environment.txt": "\n".join(variables(dict(os.environ))) + "\n",
    }
    if pid is not None:
        texts["ps.txt"] = answer([str(layout.command), "ps", "--all", str(pid)])
        texts["ps.json"] = answer([str(layout.command), "ps", "--json", str(pid)], is_json=True)
        texts["process.txt"] = "\n".join(process(pid)) + "\n"
    return texts


def answer(words: list[str], is_json: bool = False) -> str:
    """What a command of Marline's prints. A command that fails, or gives no answer, says so in the archive: that is
    part of the report."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OF_A_JOB)}
    try:
        done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{' '.join(words)}: no answer within {SECONDS} s\n"
    text, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if is_json and text:
        return text
    return text + errors + (f"[exit status {done.returncode}]\n" if done.returncode != 0 else "")


def versions(layout: Layout) -> list[str]:
    lines = [f"system     {system_name()}", f"kernel     {platform.release()} {platform.machine()}",
             f"libc       {os.confstr('CS_GNU_LIBC_VERSION')}", f"Python     {platform.python_version()}"]  # fmt: skip
    driver = Path("/proc/driver/nvidia/version")
    if driver.exists():
        lines.append(f"driver     {driver.read_text(errors='replace').splitlines()[0]}")
    lines += [f"{command:<10} {version_line(command)}" for command in COMMANDS]
    lines.append("files:")
    libraries = sorted(path for path in (layout.prefix / "lib").rglob("libmarline*") if path.is_file())
    return lines + [f"  {path.stat().st_size:>10} {path.relative_to(layout.prefix)}" for path in libraries]


def system_name() -> str:
    try:
        found = re.search(r'^PRETTY_NAME="?([^"\n]*)', Path("/etc/os-release").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else "unknown"


def version_line(command: str) -> str:
    """The first line with a version in it: MPICH's launcher begins with a title. Not what a command complains of, where
    names of machines may be."""
    if shutil.which(command) is None:
        return "not in PATH"
    try:
        done = subprocess.run([command, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=SECONDS_OF_A_VERSION, check=False)  # fmt: skip
    except (subprocess.TimeoutExpired, OSError):
        return "gives no version"
    lines = done.stdout.decode(errors="replace").splitlines()
    return next((line.strip() for line in lines if re.search(r"\d+\.\d+", line)), "gives no version")


def variables(environment: dict[str, str]) -> list[str]:
    options = [f"  {name}={value}" for name, value in sorted(environment.items())
               if name.startswith(OPTION_PREFIXES) and not name.startswith(OF_A_JOB)]  # fmt: skip
    named = [f"  {name}" for name in sorted(environment) if name.startswith((*NAMED_PREFIXES, OF_A_JOB))]
    return ["options:", *(options or ["  none"]), "set, by name only:", *(named or ["  none"])]


def process(pid: int) -> list[str]:
    """What the system knows of it, as far as it tells us."""
    folder = Path(f"/proc/{pid}")
    try:
        lines = [line for line in (folder / "status").read_text().splitlines() if line.startswith(STATUS)]
        files = re.findall(r"^\S+ \S+ \S+ \S+ \S+ +(/.*)$", (folder / "maps").read_text(errors="replace"), re.MULTILINE)
    except OSError as error:
        return [f"process {pid}: {error.strerror}"]
    lines += ["libraries:", *(f"  {path}" for path in sorted(set(files)) if ".so" in path)]
    return lines + variables(environment_of(pid))


def environment_of(pid: int | None) -> dict[str, str]:
    """What the process was started with; empty if it does not tell us, or has ended."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(word.split("=", 1) for word in words if "=" in word)


# Privacy --------------------------------------------------------------------------------------------------------------


class Privacy:
    """Replaces what says whose the machine is. Only whole words: a user named `an` must not make a riddle of `and`."""

    def __init__(self, environments: list[dict[str, str]], users: list[pwd.struct_passwd], hosts: set[str]) -> None:
        def told(*names: str) -> set[str]:
            return {environment.get(name, "") for environment in environments for name in names}

        homes = told("HOME") | {user.pw_dir for user in users}
        homes |= {os.path.realpath(home) for home in homes if home.startswith("/")}
        names = told("USER", "LOGNAME", "USERNAME", "SUDO_USER") | {user.pw_name for user in users}
        hosts = hosts | told("HOSTNAME", "HOST") | {os.uname().nodename}
        hosts |= {host.partition(".")[0] for host in hosts}
        secrets = {value for environment in environments for name, value in environment.items()
                   if SECRET_NAMES.search(name) and len(value) >= 8}  # fmt: skip
        self.rules = [
            (either(secrets), "HIDDEN"),
            (either(homes - {"", "/"}), "HOME"),
            (either(hosts - {"", "localhost"}), "HOST"),
            (either(names - {"", "root"}), "USER"),
            (re.compile(r"(?<=/home/)(?!USER\b)[^/\s'\":]+"), "USER"),
            (re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)"), "ADDRESS"),
        ]

    def applied(self, text: str) -> str:
        for pattern, placeholder in self.rules:
            text = pattern.sub(placeholder, text)
        return re.sub(r"[^\t\n\x20-\x7e\u00a0-\U0010ffff]", "?", text)  # what a process says may move the cursor


def either(words: set[str]) -> re.Pattern[str]:
    """The longest first: the host's full name before its short one."""
    joined = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{joined})(?![A-Za-z0-9])" if joined else r"(?!)")


def owners(pid: int | None) -> list[pwd.struct_passwd]:
    """Who asks, and whose the process is; a container may know neither by name."""
    numbers = {os.getuid()} | ({os.stat(f"/proc/{pid}").st_uid} if pid is not None else set())
    found = []
    for number in numbers:
        try:
            found.append(pwd.getpwuid(number))
        except KeyError:
            pass
    return found


def hosts_of(document: str) -> set[str]:
    """The nodes of a job, as `marline ps --json` names them: those that answer, and those that it could not reach."""
    unreached = set(re.findall(r"\bno relay on ([\w.-]+)", document))
    try:
        return unreached | set(values_of("host", json.loads(document)))
    except ValueError:  # no report, but a line that says why
        return unreached


def values_of(key: str, value: object) -> list[str]:
    if isinstance(value, list):
        return [found for item in value for found in values_of(key, item)]
    if isinstance(value, dict):
        here = [value[key]] if isinstance(value.get(key), str) else []
        return here + [found for item in value.values() for found in values_of(key, item)]
    return []


# The archive ----------------------------------------------------------------------------------------------------------


def write(output: Path, texts: dict[str, str]) -> None:
    """Readable by the user only, and without the user's name, which tar usually notes for each file."""
    content = io.BytesIO()
    try:
        archive = tarfile.open(fileobj=content, mode="w:xz")
    except tarfile.CompressionError as error:
        raise Refusal(f"this Python cannot write xz archives ({error}); use another one") from error
    with archive:
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size, entry.mtime, entry.mode = len(text.encode()), int(time.time()), 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    with os.fdopen(os.open(str(output), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content.getvalue())
