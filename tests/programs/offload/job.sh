#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# job.sh LIBRARY COUNT NODES PROGRAM ARGUMENT...: runs the program as a job of COUNT processes, as `marline run` does
# but without its proof and its placement, which tests of devices do without. LIBRARY is preloaded; NODES:
# MARLINE_NODES_AS, or - for the true ones. Exit status: that of process 0, else that of a worker that failed.
library=$1 count=$2 nodes=$3
shift 3
secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
[ "$nodes" = - ] || export MARLINE_NODES_AS="$nodes"
export MARLINE_JOB="$secret" MARLINE_JOB_COUNT="$count" MARLINE_JOB_ADDRESS="unix:@marline-$secret"
workers=
number=1
while [ "$number" -lt "$count" ]; do
  env MARLINE_JOB_NUMBER="$number" LD_PRELOAD="$library" "$@" </dev/null &
  workers="$workers $!"
  number=$((number + 1))
done
env MARLINE_JOB_NUMBER=0 LD_PRELOAD="$library" "$@"
status=$?
for worker in $workers; do
  wait "$worker" || { failed=$?; [ "$status" -ne 0 ] || status=$failed; }
done
exit "$status"
