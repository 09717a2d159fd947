// SPDX-License-Identifier: Apache-2.0
//
// What time and counts are summed by (MARLINE_TRACE_AGGREGATE): kinds of tasks, parallel regions, worksharing
// constructs, MPI functions. Each gets a row, the same number in all threads of the process.
#ifndef MARLINE_TRACE_SUMS_ROWS_HPP
#define MARLINE_TRACE_SUMS_ROWS_HPP

#include <stdint.h>
#include <stdio.h>

namespace marline::trace {

// Rows of a process. What comes when all are taken counts in row kOthersRow, and the report says so.
constexpr unsigned kRowBits = 11;
constexpr unsigned kMostRows = 1u << kRowBits;
constexpr unsigned kOthersRow = 0;
constexpr unsigned kSerialRow = 1;  // code outside of parallel regions

enum class Sort : uint8_t { kOthers, kSerial, kTask, kRegion, kConstruct, kMpi };

// `kind`: of a construct its ompt_work_t. `code`: an address, of an MPI function its number. A program has one for each
// construct in its source. `label`: the name that the program gives a task; or null. It is written in kLabelBytes - 1
// bytes at most.
struct RowName {
  static constexpr unsigned kLabelBytes = 48;
  Sort sort;
  uint8_t kind;
  uint64_t code;
  const char* label;
};

// The number of the row with this name. Any thread; a lock is taken where the thread has not asked for the name lately.
unsigned row_of(const RowName& name);

// What a thread has asked for lately.
struct RowCache {
  static constexpr unsigned kEntries = 64;
  struct Entry {
    uint64_t name, label;  // packed, and the hash of the text
    unsigned row;
  };
  Entry entries[kEntries];

  unsigned row_of(const RowName& name);
};

// Whether more names were asked for than there are rows. Any thread.
bool lack_rows();
// The number of rows that have a name, and members of the JSON object of one of them. Any thread.
unsigned named_rows();
void write_row_name(FILE* out, unsigned row);

}  // namespace marline::trace

#endif
