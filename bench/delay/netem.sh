#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command (an MPI launcher, with ranks on this machine) in a network namespace of its own, where the loopback
# device delays every packet: real latency in a real network stack, where the shim beside this file is a model of it.
# Needs the right to make namespaces, iproute2, and the kernel's netem. Both MPIs are told to use TCP instead of shared
# memory.
#
#   netem.sh MICROSECONDS COMMAND [ARGUMENT]...
#
# Exit status: the command's; 125 if there is no such namespace to be had, with a line that says why.
set -u
[ $# -ge 2 ] || { echo "usage: netem.sh MICROSECONDS COMMAND [ARGUMENT]..." >&2; exit 125; }
delay=$1
shift
if [ "${MARLINE_NETEM_INSIDE:-}" != yes ]; then
  unshare --net true || { echo "netem.sh: no right to make a network namespace" >&2; exit 125; }
  MARLINE_NETEM_INSIDE=yes exec unshare --net "$0" "$delay" "$@"
fi
unset MARLINE_NETEM_INSIDE
ip link set lo up || exit 125
if [ "$delay" != 0 ]; then
  tc qdisc add dev lo root netem delay "${delay}us" limit 100000 ||
    { echo "netem.sh: this kernel has no netem (module sch_netem)" >&2; exit 125; }
fi
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_pml=ob1       # Open MPI
export MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp FI_TCP_IFACE=lo # MPICH
exec "$@"
