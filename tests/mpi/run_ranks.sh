#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs an MPI program on its stock OpenMP runtime (plain) or on Marline, and decides whether the run is as it should
# be: by default, exit status 0 and the line "rank N: done" from every rank.
#
#   run_ranks.sh plain|marline openmpi|mpich RANKS THREADS [option]... PROGRAM [ARGUMENT]...
#     -e VAR=VALUE  for the ranks           -m MPI      Marline's library for that MPI, instead of the program's
#     -p LIBRARY    preloaded before Marline's          -b LIBRARY  preloaded after it
#     -l FOLDERS    searched for libraries after Marline's
#     -o REGEX      a line of the output must match
#     -f REGEX      the run must fail, without a time-out, and a line of its output must match
#
# From the environment: MARLINE_PREFIX (lib/ is in it), MARLINE_STOCK_OPENMP (folder of libomp.so.5).
set -u
mode=$1 mpi=$2 ranks=$3 threads=$4
shift 4
library_mpi=$mpi
front='' behind='' folders='' must_match='' must_fail=''
environment=("OMP_NUM_THREADS=$threads" "OMP_WAIT_POLICY=passive")
while getopts 'e:p:b:l:m:o:f:' option; do
  case $option in
    e) environment+=("$OPTARG") ;;
    p) front="$OPTARG:" ;;
    b) behind=":$OPTARG" ;;
    l) folders=":$OPTARG" ;;
    m) library_mpi=$OPTARG ;;
    o) must_match=$OPTARG ;;
    f) must_fail=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

if [ "$mode" = marline ]; then
  lib=$MARLINE_PREFIX/lib
  environment+=("LD_LIBRARY_PATH=$lib/marline/compat$folders"
                "LD_PRELOAD=$front$lib/marline/$library_mpi/libmarline-mpi.so:$lib/libmarline.so$behind")
else
  environment+=("LD_LIBRARY_PATH=$MARLINE_STOCK_OPENMP$folders" ${behind:+"LD_PRELOAD=${behind#:}"})
fi
# Test machines are small, and containers run as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

run=(timeout -k 5 "${MARLINE_TEST_SECONDS:-250}" "mpirun.$mpi" -n "$ranks")
if [ -n "$must_fail" ]; then
  # MPICH's launcher loses the last output of ranks that abort, under any runtime: each rank has a file for them.
  words=$(mktemp -d)
  trap 'rm -rf "$words"' EXIT
  # shellcheck disable=SC2016
  output=$("${run[@]}" bash -c 'exec "$@" >"$0/$$" 2>&1' "$words" env "${environment[@]}" "$@" 2>&1)
  status=$?
  output+=$'\n'$(cat "$words"/*)
else
  output=$("${run[@]}" env "${environment[@]}" "$@" 2>&1)
  status=$?
fi
printf '%s\n' "$output"

fail()
{
  echo "run_ranks.sh: $*" >&2
  exit 1
}
[ "$status" -ne 124 ] || fail "the program hangs"
if [ -n "$must_fail" ]; then
  [ "$status" -ne 0 ] || fail "exit status 0, a failure was expected"
  grep -qE "$must_fail" <<<"$output" || fail "no line matches '$must_fail'"
  ! grep -qE '^ *rank [0-9]+: done$' <<<"$output" || fail "a rank came to its end"
  exit 0
fi
[ "$status" -eq 0 ] || fail "exit status $status"
[ "$(grep -cE '^ *rank [0-9]+: done$' <<<"$output")" -eq "$ranks" ] || fail "not every rank came to its end"
[ -z "$must_match" ] || grep -qE "$must_match" <<<"$output" || fail "no line matches '$must_match'"
