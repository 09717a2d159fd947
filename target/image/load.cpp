// SPDX-License-Identifier: Apache-2.0
//
// See the header. The loader knows a library by its file, so each copy has a file of its own, in memory. It also knows a
// library by its path, and the numbers of descriptors are used again, so each file is opened by a path of its own.
#include "image/load.hpp"

#include "base/report.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace marline::target {

namespace {

std::atomic<uint32_t> g_loaded{0};

// The number of the load, in slashes and dots.
void write_path(char* at, int file) {
  at = stpcpy(at, "/proc/self/fd/");
  for (uint32_t number = g_loaded.fetch_add(1, std::memory_order_relaxed); number != 0; number >>= 1) {
    at = stpcpy(at, (number & 1) != 0 ? "./" : "/");
  }
  std::snprintf(at, 16, "%d", file);
}

}  // namespace

int copy_image(const Image& image) {
  int file = memfd_create("openmp-image", MFD_CLOEXEC);
  bool failed = file < 0;
  for (size_t done = 0; !failed && done < image.bytes;) {
    ssize_t written = write(file, image.begin + done, image.bytes - done);
    failed = written == 0 || (written < 0 && errno != EINTR);
    if (written > 0) done += static_cast<size_t>(written);
  }
  if (failed) fatal("an offload image of %zu bytes cannot be kept in memory: %s", image.bytes, strerror(errno));
  return file;
}

void* load_image(int file) {
  char path[128];
  write_path(path, file);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fatal("an offload image cannot be loaded: %s", dlerror());
  close(file);
  return handle;
}

void unload_image(void* handle) {
  if (handle != nullptr) dlclose(handle);
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
