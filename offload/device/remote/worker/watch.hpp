// SPDX-License-Identifier: Apache-2.0
//
// Decides which thread of a worker waits for frames. While the dispatcher (device/processor/dispatcher.hpp) looks for
// work, its thread polls the wire. While there is no kernel, that thread also waits on the wire. While kernels run, the
// process's first thread polls and waits.
#pragma once

#include "device/remote/program/remote_device.hpp"
#include "device/processor/dispatcher.hpp"

namespace marline::offload::device {

// Called once, before wire_source and watch_wire. The wire must stay until watch_wire() has returned.
void begin_watch(const NodeJob& job);
// The functions by which a dispatcher gets work from the wire. `waits`: it is the worker's only dispatcher, so its
// thread may wait on the wire.
WorkSource wire_source(void (*begin)(), bool waits);
// Run by the first thread. Returns after WireUse::note_end.
void watch_wire();

}  // namespace marline::offload::device
