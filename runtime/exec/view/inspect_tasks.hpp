// SPDX-License-Identifier: Apache-2.0
//
// Tasks and threads of the running process as `marline ps` reads them. Run by the server's thread; no other thread
// stops for it.
//
// So the data may change while it reads. The record of a suspended task, or of a call that blocks a thread, is used
// only if the fiber or thread points to the same record before and after. All other data is reported as it was read;
// `marline ps` takes two reports, a moment apart.
#pragma once

#include "exec/view/report_stream.hpp"
#include "marline/marline.h"
#include "platform/own_memory.hpp"

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
void describe_stack_above(ReportStream& out, const OwnMemory& memory, const void* record,
                          const InspectRequest& request);

// A copy of the record of the library call that a task or a thread waits in. After take(), the caller checks that the
// task or thread is still in that call: the record is on a stack that is used again later.
class CallCopy {
 public:
  // False if `call` is null, or points to no such record.
  bool take(const OwnMemory& memory, const marline_wait_t* call);
  void forget() { call_ = nullptr; }
  void describe(ReportStream& out) const;  // "call": {...}; nothing if there is none

 private:
  static constexpr int kMostIds = 256;  // so many are listed; further ids are only counted

  void take_ids(const OwnMemory& memory);

  const marline_wait_t* call_ = nullptr;
  marline_wait_t record_{};
  char operation_[64];
  char names_[MARLINE_WAIT_VALUES][32];
  int count_ = 0;  // of names
  int64_t ids_[kMostIds];
  int id_count_ = 0;
};

}  // namespace marline
