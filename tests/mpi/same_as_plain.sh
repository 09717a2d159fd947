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
for mode in plain marline; do
  if ! "$here/run_ranks.sh" "$mode" "$@" >"$folder/$mode.raw" 2>&1; then
    cat "$folder/$mode.raw"
    echo "same_as_plain.sh: the run on $mode failed" >&2
    exit 1
  fi
  grep -E '^rank ' "$folder/$mode.raw" | sort >"$folder/$mode"
done
lines=$(wc -l <"$folder/plain")
if [ "$lines" -lt 10 ]; then
  echo "same_as_plain.sh: only $lines lines of transcript" >&2
  exit 1
fi
diff -u "$folder/plain" "$folder/marline" && echo "the same $lines lines"
