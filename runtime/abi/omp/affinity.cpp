// SPDX-License-Identifier: Apache-2.0
//
// affinity-format-var and its display (OpenMP 5.1, sections 3.3.8 to 3.3.11). LLVM's omp.h renames the C routines to
// ompc_; Fortran passes blank-padded text with its length. Any thread.
#include "abi/omp/current.hpp"
#include "base/check.hpp"
#include "exec/view/affinity_display.hpp"

#include <cstdlib>
#include <cstring>

namespace marline::omp {

namespace {

size_t trimmed(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

// Fortran: replaces the null byte and the rest of the buffer by blanks.
void pad(char* buffer, size_t size, size_t length) {
  if (length < size) std::memset(buffer + length, ' ', size - length);
}

size_t get_format(char* buffer, size_t size) {
  size_t length = AffinityFormat::read(buffer, size);
  if (size > 0) buffer[length < size ? length : size - 1] = '\0';
  return length;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void omp_set_affinity_format(const char* format) { AffinityFormat(format, std::strlen(format)).install(); }
[[gnu::alias("omp_set_affinity_format")]] void ompc_set_affinity_format(const char* format);
void omp_set_affinity_format_(const char* format, size_t length) {
  AffinityFormat(format, trimmed(format, length)).install();
}

size_t omp_get_affinity_format(char* buffer, size_t size) { return get_format(buffer, size); }
[[gnu::alias("omp_get_affinity_format")]] size_t ompc_get_affinity_format(char* buffer, size_t size);
int omp_get_affinity_format_(char* buffer, size_t size) {
  size_t length = AffinityFormat::read(buffer, size);
  pad(buffer, size, length);
  return static_cast<int>(length);
}

void omp_display_affinity(const char* format) { affinity_display(AffinityFormat(format).c_str()); }
[[gnu::alias("omp_display_affinity")]] void ompc_display_affinity(const char* format);
void omp_display_affinity_(const char* format, size_t length) {
  AffinityFormat text(format, trimmed(format, length));
  affinity_display(AffinityFormat(text.c_str()).c_str());
}

size_t omp_capture_affinity(char* buffer, size_t size, const char* format) {
  return affinity_capture(buffer, size, AffinityFormat(format).c_str());
}
[[gnu::alias("omp_capture_affinity")]] size_t ompc_capture_affinity(char* buffer, size_t size, const char* format);
int omp_capture_affinity_(char* buffer, const char* format, size_t size, size_t format_length) {
  AffinityFormat text(format, trimmed(format, format_length));
  AffinityFormat wanted(text.c_str());
  size_t length = affinity_capture(nullptr, 0, wanted.c_str());
  auto* whole = static_cast<char*>(std::malloc(length + 1));
  if (whole == nullptr) fatal("out of memory for an affinity text of %zu bytes", length);
  affinity_capture(whole, length + 1, wanted.c_str());
  std::memcpy(buffer, whole, length < size ? length : size);
  pad(buffer, size, length);
  std::free(whole);
  return static_cast<int>(length);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
