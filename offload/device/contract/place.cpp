// SPDX-License-Identifier: Apache-2.0
//
// Reads the source position from the ident's text or the region's name. Without -g, compilers write "unknown" for file
// and function. The region's name still has the function and the line: __omp_offloading_DEVICE_FILE_FUNCTION_lLINE.
#include "device/contract/place.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace marline::offload::device {

namespace {

// Finds the text between the n-th ';' and the next one. Returns its length.
int field(const char* place, int n, const char*& begin) {
  for (; n > 0 && place != nullptr; --n) {
    place = std::strchr(place, ';');
    place = place != nullptr ? place + 1 : nullptr;
  }
  const char* end = place != nullptr ? std::strchr(place, ';') : nullptr;
  begin = place;
  return end != nullptr ? static_cast<int>(end - place) : 0;
}

}  // namespace

const char* place_of(const void* ident) {
  struct Ident {
    int32_t reserved, flags, reserved2, reserved3;
    const char* place;
  };
  return ident != nullptr ? static_cast<const Ident*>(ident)->place : nullptr;
}

bool describe_position(const char* place, char* to, size_t bytes) {
  const char *file, *line;
  int file_length = field(place, 1, file), line_length = field(place, 3, line);
  bool known = file_length > 0 && std::strncmp(file, "unknown", 7) != 0;
  if (known) std::snprintf(to, bytes, "%.*s:%.*s", file_length, file, line_length, line);
  return known;
}

void describe_place(const char* name, const char* place, char* to, size_t bytes) {
  char position[512];
  if (describe_position(place, position, sizeof position)) {
    std::snprintf(to, bytes, "the target region at %s", position);
    return;
  }
  if (name == nullptr) name = "";
  const char* last = std::strrchr(name, '_');
  const char* function = name;
  for (int i = 0; i < 5 && function != nullptr; ++i) {  // skips "", "", "omp", "offloading" and the two numbers
    function = std::strchr(function + (i != 0), '_');
  }
  function = function != nullptr ? std::strchr(function + 1, '_') : nullptr;
  if (function != nullptr && last > function && last[1] == 'l') {
    std::snprintf(to, bytes, "the target region in line %s of %.*s", last + 2, static_cast<int>(last - function - 1),
                  function + 1);
  } else {
    std::snprintf(to, bytes, "%s", *name != '\0' ? name : "no target region");
  }
}

void describe_source(const Source& source, const char* data, char* to, size_t bytes) {
  if (source.kernel != nullptr) return describe_place(source.kernel, source.place, to, bytes);
  char position[512];
  if (!describe_position(source.place, position, sizeof position)) return describe_code(data, source.code, to, bytes);
  std::snprintf(to, bytes, "%s at %s", data, position);
}

void describe_code(const char* what, const void* code, char* to, size_t bytes) {
  Dl_info info;
  if (code == nullptr || dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(to, bytes, "%s", what);
    return;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  auto offset = static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase);
  std::snprintf(to, bytes, "%s at %s+%#tx", what, slash != nullptr ? slash + 1 : info.dli_fname, offset);
}

}  // namespace marline::offload::device
