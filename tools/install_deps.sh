#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_deps.sh build|demo|wheel [aarch64]|test    (test: the default)
# Installs what building, demonstrating or testing Marline needs: Debian packages by apt-get, if run as root, and the
# rest into the source tree. Idempotent: with everything there it looks, and ends. Run from anywhere.
#   build  the libraries and the command: compilers, CMake, Ninja, hwloc, Python. It asks for these, not for packages:
#          those of a site's modules, of conda or of the user's own serve as well.
#   demo   also an MPI, a BLAS, GCC 12 and Clang 19; NumPy and Matplotlib in .venv.
#   wheel  as build, and in .venv the Python packages that write a wheel; a cross compiler, if it is to be one for
#          AArch64 and this machine is another one.
#   test   also all compilers, both MPIs, test tools; Python packages in .venv; AArch64 libraries for the cross build,
#          CUDA's assembler for GPU programs in .deps.
set -eu
cd "$(dirname "$0")/.."

kind=${1:-test}
case "$kind" in
  build | demo | wheel | test) ;;
  *)
    echo "install_deps: $kind: expected build, demo, wheel or test" >&2
    exit 2
    ;;
esac

demo="python3-venv gcc-12 clang-19 libomp-19-dev openmpi-bin libopenmpi-dev libopenblas-dev"
base="build-essential pkg-config git python3 python3-venv"
compilers="g++-12 gfortran-12 clang-14 libclang-rt-19-dev clang-format-19"
offload="clang-tools-14 clang-tools-19"   # put device code into programs
more_compilers="clang-16 clang-tools-16 clang-22 clang-tools-22 llvm-22"   # if this Debian has them
mpi="mpich libmpich-dev"
programs="hwloc libpapi-dev libstarpu-dev libhdf5-openmpi-dev libhdf5-mpich-dev"
slurm="slurmctld slurmd slurm-client munge"   # without /etc/slurm/slurm.conf, only munge starts
packages="debhelper dh-python lintian patchelf"   # Debian's packages, and conda's recipe, as tests build them
tests="abigail-tools graphviz otf2-tools libgtest-dev libbenchmark-dev spin valgrind gdb strace iproute2 qemu-user"
browser="chromium"   # opens the pages of reports
cross="gcc-12-aarch64-linux-gnu g++-12-aarch64-linux-gnu"
aarch64_libraries="libgtest-dev"
cuda_packages="nvidia-cuda-nvcc-cu12==12.9.* nvidia-nvjitlink-cu12==12.9.*"   # CUDA 13's code is refused by LLVM 19
python_demo="numpy==2.* matplotlib==3.* rich==14.*"
python_wheel="wheel==0.* pyelftools==0.*"
python_tests="pytest==8.* perfetto==0.* PyYAML==6.* hypothesis==6.* vermin==1.* mpi4py==4.* jsonschema==4.* otf2==3.*"
python_tests="$python_tests nvidia-nvtx==13.*"   # headers only

# at_least VERSION COMMAND...: whether a number of the first line that COMMAND prints is VERSION (major.minor) or later.
at_least() {
  wanted=$1
  shift
  found=$("$@" 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p')
  [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -t. -k1,1n -k2,2n | head -n 1)" = "$wanted" ]
}

# In the folders where CMake looks, or where the compiler does.
has_hwloc() {
  for folder in $(printf '%s' "${CMAKE_PREFIX_PATH:-}:${Hwloc_ROOT:-}" | tr ':;' '  '); do
    if [ -f "$folder/include/hwloc.h" ]; then return 0; fi
  done
  pkg-config --exists 'hwloc >= 2' 2>/dev/null || printf '#include <hwloc.h>\n' | ${CC:-cc} -E - >/dev/null 2>&1
}

lacking=""    # in words
missing=""    # Debian packages
# lacks WORDS PACKAGE...
lacks() {
  lacking="$lacking${lacking:+, }$1"
  shift
  missing="$missing $*"
}

look_for_tools() {
  command -v "${CC:-cc}" >/dev/null || lacks "a C compiler" gcc libc6-dev
  command -v "${CXX:-c++}" >/dev/null || lacks "a C++ compiler" g++
  at_least 3.25 cmake --version || lacks "CMake 3.25" cmake
  command -v ninja >/dev/null || lacks Ninja ninja-build
  at_least 3.11 python3 --version || lacks "Python 3.11" python3
  has_hwloc || lacks "hwloc 2 with its headers" libhwloc-dev
}

look_for_packages() {
  installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p' | tr '\n' ' ') "
  for package in "$@"; do
    case "$installed" in
      *" $package "*) ;;
      *) lacks "$package" "$package" ;;
    esac
  done
}

look_for_tools
# shellcheck disable=SC2086  # the lists are lists
case "$kind" in
  demo) look_for_packages $demo ;;
  wheel) [ "${2:-$(uname -m)}" = "$(uname -m)" ] || look_for_packages $cross ;;
  test) look_for_packages $base $demo $compilers $offload $mpi $programs $packages $tests $browser $cross $slurm ;;
esac

# Those that this Debian may lack are asked for once, and again when the list changes or others are missing.
asked=.deps/asked-packages
more=""
if [ "$kind" = test ] && [ "$(cat "$asked" 2>/dev/null)" != "$more_compilers" ]; then more=$more_compilers; fi
can_install=""
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then can_install=yes; fi

if [ -n "$missing" ] && [ -z "$can_install" ]; then
  echo "install_deps: missing: $lacking. Debian, Ubuntu, as root: apt-get install --no-install-recommends$missing;" \
    "elsewhere by your distribution's packages, your site's modules, Spack or conda" >&2
  exit 1
fi
if [ -n "$missing" ] || { [ -n "$more" ] && [ -n "$can_install" ]; }; then
  echo "install_deps: installing$missing${more:+ $more}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  for package in $more; do
    if apt-cache show "$package" >/dev/null 2>&1; then missing="$missing $package"; fi
  done
  if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
  fi
  if [ -n "$more" ]; then
    mkdir -p .deps
    printf '%s\n' "$more_compilers" > "$asked"
  fi
fi
if [ "$kind" = build ]; then exit 0; fi

stamp=.venv/marline-packages
there=" $(cat "$stamp" 2>/dev/null || true) "
case "$kind" in
  demo) python_packages=$python_demo ;;
  wheel) python_packages=$python_wheel ;;
  test) python_packages="$python_demo $python_wheel $python_tests" ;;
esac
absent=""
for package in $python_packages; do
  case "$there" in
    *" $package "*) ;;
    *) absent="$absent $package" ;;
  esac
done
if [ -n "$absent" ]; then
  echo "install_deps: installing$absent into .venv"
  python3 -m venv .venv
  # shellcheck disable=SC2086
  .venv/bin/pip install --quiet --disable-pip-version-check $absent
  printf '%s\n' "$(echo $there$absent)" > "$stamp"
fi
if [ "$kind" != test ]; then exit 0; fi

stamp=.deps/aarch64/marline-packages
if [ "$(cat "$stamp" 2>/dev/null)" != "$aarch64_libraries" ]; then
  echo "install_deps: unpacking AArch64's $aarch64_libraries into .deps/aarch64"
  rm -rf .deps/aarch64 .deps/apt
  mkdir -p .deps/aarch64 .deps/apt/lists/partial .deps/apt/cache/archives/partial
  cd .deps/apt
  arm64="-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists=$PWD/lists
         -o Dir::State::status=/dev/null -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=$(id -un)"
  # shellcheck disable=SC2086
  apt-get $arm64 update
  # shellcheck disable=SC2086
  apt-get $arm64 download $aarch64_libraries
  for package in *.deb; do
    dpkg -x "$package" ../aarch64
  done
  cd ../..
  rm -rf .deps/apt
  printf '%s\n' "$aarch64_libraries" > "$stamp"
fi

# What Clang needs of CUDA to build programs for NVIDIA GPUs, laid out as it expects: ptxas and libdevice as they come,
# and our own nvlink over nvJitLink, since no Python package has that command.
stamp=.deps/cuda/marline-packages
wanted="$cuda_packages, nvlink $(cksum < tools/cuda/nvlink.c)"
if [ "$(uname -m)" = x86_64 ] && [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  echo "install_deps: unpacking $cuda_packages into .deps/cuda"
  rm -rf .deps/cuda .deps/wheels
  mkdir -p .deps/cuda/bin .deps/cuda/include .deps/cuda/lib .deps/cuda/nvvm
  # shellcheck disable=SC2086
  .venv/bin/pip download --quiet --disable-pip-version-check --no-deps --dest .deps/wheels $cuda_packages
  for wheel in .deps/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" .deps/wheels
  done
  mv .deps/wheels/nvidia/cuda_nvcc/bin/ptxas .deps/cuda/bin
  mv .deps/wheels/nvidia/cuda_nvcc/nvvm/libdevice .deps/cuda/nvvm
  mv .deps/wheels/nvidia/nvjitlink/include/nvJitLink.h .deps/cuda/include
  mv .deps/wheels/nvidia/nvjitlink/lib/libnvJitLink.so.12 .deps/cuda/lib
  chmod +x .deps/cuda/bin/ptxas
  cc -O2 tools/cuda/nvlink.c -I.deps/cuda/include .deps/cuda/lib/libnvJitLink.so.12 -Wl,-rpath,'$ORIGIN/../lib' \
    -o .deps/cuda/bin/nvlink
  rm -rf .deps/wheels
  printf '%s\n' "$wanted" > "$stamp"
fi
