// SPDX-License-Identifier: Apache-2.0
//
// Loads images. The loader recognises a library by its file, so each copy has a file of its own, in memory. It also
// recognises a library by its path, and the numbers of descriptors are used again, so each file is opened by a path of
// its own. The file stays open as long as the image is loaded: debuggers and the report of a crash read it by the path.
#include "image/load.hpp"

#include "base/list.hpp"
#include "base/forks.hpp"
#include "base/lock.hpp"
#include "base/report.hpp"
#include "image/loader.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::image {

namespace {

std::atomic<uint32_t> g_loaded{0};
Lock g_lock;               // guards the list; held for one walk over it
List<void*, 8> g_handles;  // of loaded images: as many as the program has images
const HeldAcrossForks g_held(g_lock, ForkOrder::kPrograms);

// Writes a path of the file. Slashes and dots in the path encode the number of the load, so that each load has another
// path.
void write_path(char* at, int file) {
  at += std::sprintf(at, "/proc/%d/fd/", static_cast<int>(getpid()));
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
  Guard guard(g_lock);
  g_handles.push(handle);
  return handle;
}

void unload_image(void* handle) {
  if (handle == nullptr) return;
  {
    Guard guard(g_lock);
    uint32_t kept = 0;
    for (void* other : g_handles) {
      if (other != handle) g_handles[kept++] = other;
    }
    g_handles.shrink(kept);
  }
  link_map* map = nullptr;
  int file = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? file_of_image(map->l_name) : -1;
  dlclose(handle);
  if (file >= 0) close(file);
}

int file_of_image(const char* path) {
  bool is_of_process = std::strncmp(path, "/proc/", 6) == 0 && std::strstr(path, "/fd/") != nullptr;
  return is_of_process ? std::atoi(std::strrchr(path, '/') + 1) : -1;
}

bool is_loaded_image(void* handle) {
  Guard guard(g_lock);
  return std::find(g_handles.begin(), g_handles.end(), handle) != g_handles.end();
}

namespace {

struct Sought {
  uint64_t base;
  ImageRange range;
};

int take_range(dl_phdr_info* info, size_t, void* data) {
  auto* sought = static_cast<Sought*>(data);
  if (info->dlpi_addr != sought->base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD)
      sought->range.end = std::max(sought->range.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

}  // namespace

ImageRange range_of_image(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return {0, 0};
  Sought sought = {map->l_addr, {map->l_addr, map->l_addr}};
  visit_modules(take_range, &sought);
  return sought.range;
}

// Clang 14 keeps constructors local to the image. A constructor's entry is not local, and its first word is the
// constructor's address.
uint64_t find_in_image(void* handle, const char* name) {
  if (handle == nullptr) return 0;
  if (void* found = dlsym(handle, name)) return reinterpret_cast<uint64_t>(found);
  char* entry = nullptr;
  if (asprintf(&entry, ".omp_offloading.entry.%s", name) < 0) fatal("no memory for the name of a region");
  auto* address = static_cast<const uint64_t*>(dlsym(handle, entry));
  std::free(entry);
  return address != nullptr ? *address : 0;
}

uint64_t find_sized(void* handle, const char* name, size_t& bytes) {
  uint64_t address = find_in_image(handle, name);
  Dl_info info;
  void* found = nullptr;  // an ElfW(Sym)
  bytes = 0;
  if (address != 0 && dladdr1(reinterpret_cast<void*>(address), &info, &found, RTLD_DL_SYMENT) != 0 &&
      found != nullptr) {
    bytes = static_cast<const ElfW(Sym)*>(found)->st_size;
  }
  return address;
}

}  // namespace marline::offload::image
