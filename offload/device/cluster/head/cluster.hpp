// SPDX-License-Identifier: Apache-2.0
//
// A kind of device that presents the workers of a job as one device. Kernels are spread over the workers. The memory
// has the same addresses in all of them, and the core (offload/cluster) keeps it coherent. docs/design/cluster.md.
#pragma once

namespace marline::offload::device {

// Called in a worker before it serves: makes it able to be a member of a cluster.
void serve_cluster();

// Called at the program's end. Prints the cluster's statistics with OMP_DISPLAY_ENV=verbose. Ends the program with
// status 123 if a check has found something (MARLINE_CLUSTER_WRITES=check).
void end_cluster_check();

// Called in the program before it joins a job: from then on it receives the messages of the cluster's nodes.
void take_cluster_frames();

}  // namespace marline::offload::device
