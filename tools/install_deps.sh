#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building, testing and demonstrating Marline needs: Debian packages by apt-get (as root), Python packages
# into .venv, AArch64 libraries for the cross build and CUDA's assembler for GPU programs into .deps. Idempotent: with
# everything there it asks dpkg once and ends. Run from anywhere; takes no argument.
set -eu
cd "$(dirname "$0")/.."

build="build-essential cmake ninja-build pkg-config git python3 python3-venv libhwloc-dev"
compilers="gcc-12 g++-12 gfortran-12 clang-14 clang-19 libclang-rt-19-dev libomp-19-dev clang-format-19"
offload="clang-tools-14 clang-tools-19"   # put device code into programs
more_compilers="clang-16 clang-tools-16 clang-22 clang-tools-22 llvm-22"   # if this Debian has them
mpi="openmpi-bin libopenmpi-dev mpich libmpich-dev"
programs="libopenblas-dev hwloc libstarpu-dev libhdf5-openmpi-dev libhdf5-mpich-dev"
slurm="slurmctld slurmd slurm-client munge"   # without /etc/slurm/slurm.conf, only munge starts
tests="libgtest-dev libbenchmark-dev spin valgrind gdb iproute2 qemu-user \
gcc-12-aarch64-linux-gnu g++-12-aarch64-linux-gnu"
aarch64_libraries="libhwloc15 libhwloc-dev libudev1 libgtest-dev"
cuda_packages="nvidia-cuda-nvcc-cu12==12.9.* nvidia-nvjitlink-cu12==12.9.*"   # CUDA 13's code is refused by LLVM 19
python_packages="pytest==8.* numpy==2.* matplotlib==3.* perfetto==0.* rich==14.* PyYAML==6.* hypothesis==6.*"

# shellcheck disable=SC2086  # the lists are lists
installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $build $compilers $offload $more_compilers $mpi \
  $programs $tests $slurm 2>/dev/null |
  sed -n 's/ installed$//p' | tr '\n' ' ') "
absent() {
  for package in "$@"; do
    case "$installed" in
      *" $package "*) ;;
      *) printf ' %s' "$package" ;;
    esac
  done
}
missing=$(absent $build $compilers $offload $mpi $programs $tests $slurm)
# Those that this Debian may lack are asked for once, and again when the list changes or others are missing.
asked=.deps/asked-packages
more=$(absent $more_compilers)
if [ "$(id -u)" -ne 0 ] || [ "$(cat "$asked" 2>/dev/null)" = "$more_compilers" ]; then
  more=""
fi

if [ -n "$missing$more" ]; then
  if [ "$(id -u)" -ne 0 ]; then
    echo "install_deps: missing Debian packages; run as root: apt-get install --no-install-recommends$missing" >&2
    exit 1
  fi
  echo "install_deps: installing$missing$more"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  for package in $(absent $more_compilers); do
    if apt-cache show "$package" >/dev/null 2>&1; then missing="$missing $package"; fi
  done
  if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
  fi
  mkdir -p .deps
  printf '%s\n' "$more_compilers" > "$asked"
fi

stamp=.venv/marline-packages
if [ "$(cat "$stamp" 2>/dev/null)" != "$python_packages" ]; then
  echo "install_deps: making .venv with $python_packages"
  python3 -m venv .venv
  # shellcheck disable=SC2086
  .venv/bin/pip install --quiet --disable-pip-version-check $python_packages
  printf '%s\n' "$python_packages" > "$stamp"
fi

# What the cross build links, unpacked beside the sources: as packages of a second architecture they would make apt
# upgrade half the system to keep versions equal. A private apt state knows arm64; the system's does not change.
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
