// SPDX-License-Identifier: Apache-2.0
//
// How the threads of a worker share the wait for frames. While the dispatcher (device/processor/dispatcher.hpp) looks
// for work, its thread polls the wire; without kernels it waits there itself; during kernels the process's first thread
// does.
#pragma once

#include "device/remote/program/remote_device.hpp"
#include "device/processor/dispatcher.hpp"

namespace marline::offload::device {

// Once, before the next two. The wire stays until watch_wire() has returned.
void begin_watch(const NodeJob& job);
// What a dispatcher asks of the wire. `waits`: it is the worker's only one, so its thread may wait there.
WorkSource wire_source(void (*begin)(), bool waits);
// The first thread, until WireUse::note_end.
void watch_wire();

}  // namespace marline::offload::device
