#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run by conda-build in the sources. CMAKE_ARGS: what conda-forge's compilers ask of CMake, the prefix among it.
set -eux
# shellcheck disable=SC2086  # a list
cmake $CMAKE_ARGS -S . -B build/conda -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX"
cmake --build build/conda --target installed --parallel "$CPU_COUNT"
cmake --install build/conda
