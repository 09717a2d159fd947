// SPDX-License-Identifier: Apache-2.0
//
// The workers of a job as one device: its kernels are spread over them, and its memory is at the same addresses in all
// of them, kept coherent by the core (offload/cluster). docs/design/cluster.md.
#pragma once

namespace marline::offload::device {

// In a worker, before it serves: it can be a member of a cluster.
void serve_cluster();

// In the program, whose devices are being listed: ends it if its options are none that a cluster has.
void check_cluster_options();

// The program ends: with status 123 if a check has found something (MARLINE_CLUSTER_WRITES=check).
void end_cluster_check();

// Likewise, before it joins a job: messages of the cluster's nodes come to it.
void take_cluster_frames();

}  // namespace marline::offload::device
