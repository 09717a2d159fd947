// SPDX-License-Identifier: Apache-2.0
//
// Events of devices (OpenMP 5.2, sections 19.5.2.19 to 19.5.2.28). What a library that drives devices reports
// (include/marline/devices.h) goes to the tool's callbacks, and to the buffers of traces that the tool has started
// (section 19.6.2). Any thread.
#pragma once

#include "marline/devices.h"
#include "tool/tool.hpp"

namespace marline::tool {

// A number that no other event has, for ompt_get_unique_id, target ids and operations.
uint64_t unique_id();

// Reports the begin or the end of a device construct. The caller sets construct->id before the begin.
void target(Endpoint endpoint, marline_construct_t* construct);
void target_maps(marline_construct_t* construct, unsigned count, void** host, void** device, size_t* bytes,
                 unsigned* flags);

// Reports the begin or the end of a copy, an allocation or a kernel (operation->kind). The caller sets operation->id
// before the begin.
void operation(Endpoint endpoint, marline_operation_t* operation);
// Adds a record of the operation to the device's trace, if one is running.
void operation_done(const marline_operation_t& operation);

// Adds a native record to the device's trace, if one is running. `kind`: DeviceTrace::kOverhead or kIdleness.
void activity(int device, unsigned kind, const char* what, uint64_t begin, uint64_t end);

void device_begin(int device, const char* type, int host);
void device_load(int device, const void* image, size_t bytes, uint64_t module);
void device_unload(int device, uint64_t module);
void device_end(int device);
// The tool is about to end: reports the end of all devices that have not ended.
void end_devices();
// Drops the traces of all devices: in a forked child, or when the process gives up its tool.
void forget_devices();

}  // namespace marline::tool
