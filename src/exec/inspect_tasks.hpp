// SPDX-License-Identifier: Apache-2.0
//
// Tasks and threads of the running process as `marline ps` reads them. The server's thread; nobody else stops for it.
//
// What it sees may change under it. A suspended task's record is taken only if its fiber says the same before and after;
// all else is told as it was read, and the reader of the report takes two, a moment apart.
#pragma once

#include "exec/report_stream.hpp"
#include "platform/own_memory.hpp"

struct marline_wait;  // marline.h

namespace marline {

struct InspectRequest {
  size_t stack_bytes = 0;     // of each suspended task, from its stack pointer upwards
  size_t stacks = 0;          // so many tasks at most come with their stacks
  const char* sections = "";  // which of the libraries' parts are asked for: "NAME,NAME,", to the end of the word
};

// "tasks": [...]; "threads": [...]
void describe_tasks(ReportStream& out, const OwnMemory& memory, const InspectRequest& request);
void describe_threads(ReportStream& out, const OwnMemory& memory, const InspectRequest& request);

// The stack of a thread that blocks, from the record of its call upwards: no thread says where its stack pointer is.
void describe_stack_above(ReportStream& out, const OwnMemory& memory, const void* record, const InspectRequest& request);

// The library call that a task or a thread waits in, as marline_wait_t has it.
void describe_call(ReportStream& out, const OwnMemory& memory, const marline_wait* call);

}  // namespace marline
