#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# minimod with a slab per device on a node of its own, or the program by hand with a slab per MPI rank; both over the
# links that MARLINE_LINK describes. For studies/nodes.yaml.
#
#   minimod.sh PREFIX devices COUNT COMPILER [ARGUMENT]...
#   minimod.sh PREFIX ranks COUNT COMPILER [ARGUMENT]...
set -eu
[ $# -ge 4 ] && [ -n "${MARLINE_LINK:-}" ] ||
  { echo "minimod.sh: give PREFIX devices|ranks COUNT COMPILER, and MARLINE_LINK" >&2; exit 2; }
prefix=$1 by=$2 count=$3 compiler=$4
shift 4
case $by in
  devices)
    exec "$prefix/bin/marline" run -t 1 --no-bind --devices "nodes:$count" --nodes-as=apart \
      "$prefix/apps/minimod-$compiler" "$@" ;;
  ranks)
    exec mpirun.openmpi -n "$count" --allow-run-as-root --bind-to none --oversubscribe \
      env OMP_NUM_THREADS=1 MPI_LINK="$MARLINE_LINK" MPI_NODES_AS=apart \
      LD_PRELOAD="$prefix/bench/delay/openmpi/libmpi-delay.so" "$prefix/apps/minimod-mpi-$compiler-openmpi" "$@" ;;
  *)
    echo "minimod.sh: devices or ranks, not '$by'" >&2
    exit 2 ;;
esac
