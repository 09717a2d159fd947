# SPDX-License-Identifier: Apache-2.0
"""A Debian 13 of AArch64 on a machine of another kind: its packages are unpacked, not configured, which would take a
quarter of an hour under an emulator. Programs run in it as they would on such a machine: the kernel starts qemu-aarch64
for each of them (binfmt_misc). That setting is made in a user namespace of its own, so that nobody else on this machine
meets it; Linux 6.7 and later allow that.

On one processor, for the reason that tests/on_one_processor.py gives."""

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
SUITE = "trixie"
PACKAGES = ("base-files,libc-bin,bash,dash,coreutils,grep,sed,hostname,python3-venv,openmpi-bin,libopenmpi-dev,mpich,"
            "libmpich-dev")  # fmt: skip
USER = 1000
# F: the emulator is opened now, so that programs find it in the root, too. The last words are run there by a user
# without rights.
ENTER = r"""
read go
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf '%s' ":qemu-aarch64:M::$2:$3:$4:OCF" > /proc/sys/fs/binfmt_misc/register
cd "$1"
shift 4
for at in proc sys dev; do mount --rbind /$at ./$at; done
exec chroot --userspec=1000:1000 . /usr/bin/env -i HOME=/home/user PATH=/home/user/venv/bin:/usr/bin "$@"
"""


class Arm64Root:
    """`path` is the root, `lib` the folder of its libraries, `home` that of its user."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "root"
        self.lib = self.path / "usr" / "lib" / "aarch64-linux-gnu"
        self.home = self.path / "home" / "user"
        self._emulator = folder / "emulator" / "usr" / "bin" / "qemu-aarch64"
        # Not this machine's: version 10 takes a quarter of the time that version 7.2 of Debian 12 takes.
        extract = ["mmdebstrap", "--mode=root", "--quiet", "--variant=extract"]
        subprocess.run([*extract, "--include=qemu-user", SUITE, folder / "emulator"], check=True)
        subprocess.run([*extract, "--architectures=arm64", f"--include={PACKAGES}", SUITE, self.path], check=True)
        (self.path / "etc" / "passwd").write_text("root:x:0:0::/root:/bin/sh\n"
                                                  f"user:x:{USER}:{USER}::/home/user:/bin/sh\n")  # fmt: skip
        (self.path / "etc" / "hosts").write_text("127.0.0.1 localhost\n")
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", self.path / "etc" / "ssl" / "certs")  # pip reads it at once
        self.home.mkdir()
        os.chown(self.home, USER, USER)

    def take(self, *files: Path) -> None:
        """Copies them into the user's home."""
        for file in files:
            shutil.copy(file, self.home)
            os.chown(self.home / file.name, USER, USER)

    def start(self, words: list[str], output: int, **settings: str) -> subprocess.Popen[str]:
        """Starts words in the root, in the home of its user. Output and errors go to `output`."""
        changes = [f"{name}={value}" for name, value in settings.items()]
        within = ["sh", "-ec", 'cd "$HOME" && exec "$@"', "sh", *words]
        process = subprocess.Popen(["unshare", "--user", "--mount", "sh", "-ec", ENTER, "sh", str(self.path), MAGIC,
                                    MASK, str(self._emulator), *changes, *within], stdin=subprocess.PIPE,
                                   stdout=output, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                   preexec_fn=on_one_processor)  # fmt: skip
        assert process.stdin is not None
        await_namespace(process)
        # All users and groups keep their numbers.
        for kind in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}/{kind}").write_text("0 0 4294967295\n")
        process.stdin.write("go\n")
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, *words: str, seconds: float = 600, **settings: str) -> tuple[int, str]:
        """Status and output of words in the root."""
        process = self.start(list(words), subprocess.PIPE, **settings)
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output


def await_namespace(process: subprocess.Popen[str]) -> None:
    """Until unshare(1) has made the user namespace."""
    ours = os.readlink("/proc/self/ns/user")
    while process.poll() is None and os.readlink(f"/proc/{process.pid}/ns/user") == ours:
        time.sleep(0.01)


def on_one_processor() -> None:
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


def why_not() -> str:
    """What this machine lacks for such a root; empty: nothing."""
    if os.getuid() != 0:
        return "needs root"
    missing = [tool for tool in ("mmdebstrap", "unshare", "dpkg", "aarch64-linux-gnu-gcc-12") if not shutil.which(tool)]
    if missing:
        return f"needs {', '.join(missing)}"
    numbers = os.uname().release.split(".")
    return "" if (int(numbers[0]), int(numbers[1])) >= (6, 7) else "needs Linux 6.7"
