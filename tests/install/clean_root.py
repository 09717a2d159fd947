# SPDX-License-Identifier: Apache-2.0
"""A newly installed Debian in a folder, made by mmdebstrap, and a user without rights in it: for tests of what a user
meets on a machine where nothing of ours has ever been. It trusts the certificates that this machine trusts, and pip
asks the package index that it asks here."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SECONDS = 1200
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")
# Mounts and processes of the root end with it.
OWN = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
ENTER = ('cd "$1"; mount -t proc proc ./proc; mount -t tmpfs -o mode=1777 tmp ./tmp; '
         'for at in sys dev; do mount --rbind /$at ./$at; done; exec chroot . ')
PIP_SETTINGS = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_PROXY", "HTTPS_PROXY", "https_proxy")


def skip_if_impossible() -> None:
    if os.environ.get("MARLINE_EXHAUSTIVE", "") in ("", "0"):
        pytest.skip("takes minutes: MARLINE_EXHAUSTIVE=1 runs it")
    if shutil.which("mmdebstrap") is None or os.getuid() != 0:
        pytest.skip("needs root and mmdebstrap")


class CleanRoot:
    """Of the Debian release `suite`, with these packages and what they depend on. remove() when it is not needed."""

    def __init__(self, folder: Path, suite: str, packages: list[str]) -> None:
        self.folder, self.home = folder, folder / "home" / "user"
        self._checked(["mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(packages)}",
                       "--customize-hook=chroot $1 useradd -m -s /bin/bash user", suite, folder])  # fmt: skip
        (folder / CERTIFICATES).parent.mkdir(parents=True, exist_ok=True)
        for file in (CERTIFICATES, Path("etc/resolv.conf"), Path("etc/pip.conf")):
            if ("/" / file).exists():
                shutil.copy("/" / file, folder / file)

    def run(self, script: str, user: str = "user") -> str:
        """What the shell script prints. It must end with status 0."""
        settings = {name: os.environ[name] for name in PIP_SETTINGS if name in os.environ}
        settings["PIP_CERT"] = f"/{CERTIFICATES}"
        words = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
        return self._checked([*OWN, "sh", "-c", f'{ENTER} su - {user} -c "$2"', "sh", self.folder, words + script])

    def take(self, *files: Path) -> None:
        """Copies files into the user's home."""
        for file in files:
            shutil.copy(file, self.home)

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    @staticmethod
    def _checked(words: list[str | Path]) -> str:
        result = subprocess.run([str(word) for word in words], env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
                                check=False)  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr
