# SPDX-License-Identifier: Apache-2.0
"""Where the parts of an installation (or a build tree, which looks the same) lie under its prefix."""

from dataclasses import dataclass
from pathlib import Path

from marline.errors import Refusal


@dataclass(frozen=True)
class Layout:
    """The paths under one prefix. Asking for a library that the build left out is a refusal that says how to get it."""

    prefix: Path

    @property
    def command(self) -> Path:
        """The compiled half of the command (launch/), which starts this one."""
        return self.prefix / "bin" / "marline"

    @property
    def compat(self) -> Path:
        """The folder with libomp.so.5, libiomp5.so and libgomp.so.1 that lead to libmarline.so."""
        return self.prefix / "lib" / "marline" / "compat"

    @property
    def runtime(self) -> Path:
        """By its SONAME where the headers are not installed, as Debian's packages have it."""
        library = self.prefix / "lib" / "libmarline.so"
        return library if library.exists() else library.with_name("libmarline.so.0")

    def mpi(self, implementation: str) -> Path:
        return self.prefix / "lib" / "marline" / implementation / "libmarline-mpi.so"

    def trace(self, implementation: str | None) -> Path:
        """The recorder; with an implementation of MPI, the one that records its calls too."""
        folder = self.prefix / "lib" / "marline"
        return (folder / implementation if implementation else folder) / "libmarline-trace.so"

    @property
    def checker(self) -> Path:
        return self.prefix / "lib" / "marline" / "libmarline-check.so"

    @property
    def dependences(self) -> Path:
        """What analyses the record of `marline check --dependences`."""
        return self.prefix / "lib" / "marline" / "marline-dependences"

    @property
    def target(self) -> Path:
        """The library that has the devices."""
        return self.prefix / "lib" / "marline" / "libmarline-target.so"

    @property
    def pages(self) -> Path:
        """What README.md and docs/options.md, as messages name them, lie in. A build tree has none."""
        return self.prefix / "share" / "doc" / "marline"

    def require(self, library: Path, remedy: str) -> Path:
        if not library.is_file():
            raise Refusal(f"{library} is missing; {remedy}")
        return library
