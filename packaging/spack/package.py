# SPDX-License-Identifier: Apache-2.0
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Marline(CMakePackage):
    """An OpenMP runtime for programs that compose dependent tasks with MPI. It takes the place of libomp and libgomp
    under unmodified binaries. Tasks that block in MPI are suspended and hold no core."""

    license("Apache-2.0")

    # Without an archive: `spack dev-build` and `spack develop` build a checkout.
    version("0.2.0")

    variant("mpi", default=False, description="depend on an MPI; every MPI is served without, too")
    variant("reports", default=True, description="what reports, charts and studies import")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("hwloc@2:")
    depends_on("python@3.11:", type=("build", "run"))
    # The libraries find the program's MPI at run time, so this one is no part of the build.
    depends_on("mpi", type="run", when="+mpi")
    with when("+reports"):
        depends_on("py-matplotlib", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-pyyaml", type="run")
        depends_on("py-rich", type="run")

    generator("ninja")
    conflicts("%gcc@:11", msg="the runtime is C++20")
    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib.marline.compat)

    def test_version(self):
        """the command finds the installed library"""
        command = which(self.prefix.bin.marline, required=True)
        assert str(self.version) in command("--version", output=str.split, error=str.split)
