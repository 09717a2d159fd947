// SPDX-License-Identifier: Apache-2.0
//
// Displaying where threads run (OpenMP 5.2, sections 18.3.10 to 18.3.13 and 21.2.5): affinity-format-var, and the lines
// of OMP_DISPLAY_AFFINITY. Each thread prints its own line. Any thread, for itself.
#pragma once

#include "sched/team.hpp"

#include <cstddef>

namespace marline {

// A string on the heap, for as long as the scope lasts. Null or empty text stands for affinity-format-var.
class AffinityFormat {
 public:
  explicit AffinityFormat(const char* text);
  AffinityFormat(const char* text, size_t length);
  ~AffinityFormat();
  AffinityFormat(const AffinityFormat&) = delete;
  AffinityFormat& operator=(const AffinityFormat&) = delete;

  [[nodiscard]] const char* c_str() const { return text_; }
  // Makes this string affinity-format-var.
  void install();
  // Copies the first `size` bytes of affinity-format-var, without its null byte; returns its length. Also in a signal
  // handler.
  static size_t read(char* buffer, size_t size);
  // Where the pointer to it is, for debuggers; null there: Options::affinity_format.
  static const char* const* place();

 private:
  void set(const char* text, size_t length);

  char* text_ = nullptr;
};

// Writes the line of the calling thread to `buffer`, cut to `size` bytes with its null byte; returns its whole length.
size_t affinity_capture(char* buffer, size_t size, const char* format);

// Prints the line on stdout, as libomp does, in order with the program's own output there.
void affinity_display(const char* format);

// Called by the opener of a region if OMP_DISPLAY_AFFINITY is set: the region's threads print their lines if one of
// them has something new to show. That is another size or level than in its last line, or other places than the team
// had.
void note_affinity_of_region(Team* team);

}  // namespace marline
