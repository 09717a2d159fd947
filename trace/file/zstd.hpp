// SPDX-License-Identifier: Apache-2.0
//
// libzstd.so.1, loaded at run time. Declared here, because its header need not be installed; the functions are those of
// its stable interface (zstd.h, 1.0 and later).
#ifndef MARLINE_TRACE_ZSTD_HPP
#define MARLINE_TRACE_ZSTD_HPP

#include <stddef.h>

namespace marline::trace {

class Zstd {
 public:
  // Loads the library and makes a context. Without the library, compress() always gives 0.
  void load();
  void unload();
  // The number of bytes in `to`; 0 if they would be more than `room`.
  size_t compress(void* to, size_t room, const void* from, size_t bytes);

 private:
  size_t (*compress_)(void*, void*, size_t, const void*, size_t, int);
  unsigned (*is_error_)(size_t);
  size_t (*free_)(void*);
  void* context_;
};

}  // namespace marline::trace

#endif
