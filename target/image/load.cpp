// SPDX-License-Identifier: Apache-2.0
//
// See the header. The loader knows a library by its file, so each copy has a file of its own, in memory, whose descriptor
// stays open: a later file with the same number would be taken for this one.
#include "image/load.hpp"

#include "base/report.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace marline::target {

void* load_image(const Image& image) {
  int file = memfd_create("openmp-image", MFD_CLOEXEC);
  for (size_t done = 0; file >= 0 && done < image.bytes;) {
    ssize_t written = write(file, image.begin + done, image.bytes - done);
    if (written <= 0 && errno != EINTR) file = -1;
    if (written > 0) done += static_cast<size_t>(written);
  }
  if (file < 0) fatal("an offload image of %zu bytes cannot be kept in memory: %s", image.bytes, strerror(errno));
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fatal("an offload image cannot be loaded: %s", dlerror());
  return handle;
}

// Clang 14 keeps constructors local to the image; its entry of one, whose first word is its address, is not.
uint64_t find_in_image(void* handle, const char* name) {
  if (handle == nullptr) return 0;
  if (void* found = dlsym(handle, name)) return reinterpret_cast<uint64_t>(found);
  char entry[512];
  std::snprintf(entry, sizeof entry, ".omp_offloading.entry.%s", name);
  auto* address = static_cast<const uint64_t*>(dlsym(handle, entry));
  return address != nullptr ? *address : 0;
}

}  // namespace marline::target
