# SPDX-License-Identifier: Apache-2.0
"""Spack recipe: copy this folder to REPO/packages/marline of a Spack repository, then `spack dev-build marline@0.1.0`
in a checkout."""

from spack.package import *


class Marline(CMakePackage):
    """An OpenMP runtime for programs that compose dependent tasks with MPI. It takes the place of libomp and libgomp
    under unmodified binaries; tasks that block in MPI are suspended and hold no core."""

    license("Apache-2.0", checked_by="marline")
    version("0.1.0")

    variant("openmpi", default=True, description="serve programs linked with Open MPI")
    variant("mpich", default=False, description="serve programs linked with MPICH")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("hwloc@2:")
    depends_on("python@3.11:", type="run")
    depends_on("py-numpy", type="run")
    depends_on("py-matplotlib", type="run")
    depends_on("py-rich", type="run")
    depends_on("py-pyyaml", type="run")
    depends_on("openmpi@4.1:4", when="+openmpi")
    depends_on("mpich@4:", when="+mpich")

    generator("ninja")
    conflicts("%gcc@:11", msg="the runtime is C++20")
    conflicts("platform=darwin", msg="Linux only")

    def cmake_args(self):
        wrappers = [
            self.define(f"MARLINE_{tool.upper()}_{mpi}", join_path(self.spec[mpi].prefix.bin, tool))
            for mpi in ("openmpi", "mpich")
            if self.spec.satisfies(f"+{mpi}")
            for tool in ("mpicc", "mpirun")
        ]
        return wrappers + [self.define(f"MARLINE_{part}", False) for part in ("TESTS", "APPS", "BENCH")]

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib.marline.compat)
