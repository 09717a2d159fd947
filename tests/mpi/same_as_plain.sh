#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What MPI tells a program must not depend on Marline: the transcripts under the stock runtime and under Marline, sorted
# as the ranks' lines mix, are the same.
#
#   same_as_plain.sh openmpi|mpich RANKS THREADS PROGRAM [ARGUMENT]...
set -u
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# transcript MODE: runs the program, sorts the output of the ranks.
transcript()
{
  "$here/run_ranks.sh" "$1" "${program[@]}" >"$folder/$1.raw" 2>&1 || return 1
  grep -E '^rank ' "$folder/$1.raw" | sort >"$folder/$1"
}

fail()
{
  cat "$folder/$1.raw"
  echo "same_as_plain.sh: the run on $1 failed" >&2
  exit 1
}

program=("$@")
# The stock run is only for comparison. Once in some hundred runs it hangs (seen in Open MPI 4.1 with libomp, with
# generalised requests): it is stopped after a minute and tried once more.
MARLINE_TEST_SECONDS=60 transcript plain || transcript plain || fail plain
transcript marline || fail marline
lines=$(wc -l <"$folder/plain")
if [ "$lines" -lt 10 ]; then
  echo "same_as_plain.sh: only $lines lines of transcript" >&2
  exit 1
fi
diff -u "$folder/plain" "$folder/marline" && echo "the same $lines lines"
