// SPDX-License-Identifier: Apache-2.0
#include "sums/rows.hpp"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/code_maps.hpp"
#include "file/no_cancel.hpp"
#include "file/record.hpp"

namespace marline::trace {
namespace {

constexpr const char* kSorts[] = {"others", "serial", "task", "region", "construct", "mpi"};
constexpr uint64_t kCodeBits = (uint64_t{1} << 48) - 1;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // Fibonacci hashing (Knuth, volume 3, 6.4)

struct Named {
  uint64_t name, label;
  char text[RowName::kLabelBytes];
};

// Under the lock; a row is never changed once it is there.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Named rows[kMostRows];  // the first two are found by their numbers alone
unsigned row_count = kSerialRow + 1;
bool is_full;  // a name found no row
// Open addressing, half full at most: numbers of rows, 0: none.
uint16_t table[2 * kMostRows];

uint64_t packed(const RowName& name) {
  return uint64_t{static_cast<uint8_t>(name.sort)} << 56 | uint64_t{name.kind} << 48 | (name.code & kCodeBits);
}

// 0: no label.
uint64_t label_hash(const char* label) { return label == nullptr ? 0 : fnv1a(label) | 1; }

uint64_t slot(uint64_t name, uint64_t label) { return (name ^ label) * kGolden; }

unsigned find_or_add(uint64_t name, uint64_t label, const char* text) {
  constexpr unsigned kMask = 2 * kMostRows - 1;
  for (uint64_t at = slot(name, label) >> (64 - kRowBits - 1);; ++at) {
    uint16_t& row = table[at & kMask];
    if (row == 0) {
      if (row_count == kMostRows) {
        is_full = true;
        return kOthersRow;
      }
      row = static_cast<uint16_t>(row_count++);
      rows[row].name = name;
      rows[row].label = label;
      if (text != nullptr) snprintf(rows[row].text, sizeof rows[row].text, "%s", text);
      return row;
    }
    if (rows[row].name == name && rows[row].label == label) return row;
  }
}

}  // namespace

unsigned row_of(const RowName& name) {
  const NoCancel no_cancel;
  pthread_mutex_lock(&lock);
  const unsigned found = find_or_add(packed(name), label_hash(name.label), name.label);
  pthread_mutex_unlock(&lock);
  return found;
}

unsigned RowCache::row_of(const RowName& name) {
  const uint64_t wanted = packed(name);
  const uint64_t label = label_hash(name.label);
  Entry& entry = entries[slot(wanted, label) >> 58];
  static_assert(kEntries == 1u << (64 - 58));
  if (entry.name != wanted || entry.label != label) entry = {wanted, label, marline::trace::row_of(name)};
  return entry.row;
}

bool lack_rows() {
  pthread_mutex_lock(&lock);
  const bool found = is_full;
  pthread_mutex_unlock(&lock);
  return found;
}

unsigned named_rows() {
  pthread_mutex_lock(&lock);
  const unsigned count = row_count;
  pthread_mutex_unlock(&lock);
  return count;
}

void write_row_name(FILE* out, unsigned row) {
  const uint64_t name = row == kSerialRow ? packed({Sort::kSerial, 0, 0, nullptr}) : rows[row].name;
  fprintf(out, "\"sort\": \"%s\", \"kind\": %u, \"code\": %" PRIu64 ", \"label\": ", kSorts[name >> 56],
          static_cast<unsigned>(name >> 48 & 0xff), name & kCodeBits);
  write_string(out, rows[row].text);
}

}  // namespace marline::trace
