// SPDX-License-Identifier: Apache-2.0
//
// See the header. The variables that the program has asked for are the cluster's to keep (may_access knows them): all
// have been asked for when the image's first region comes.
#include "device/cluster/cluster_statics.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "cluster/core/base/list.hpp"
#include "device/base/place.hpp"
#include "device/node/node_memory.hpp"
#include "image/load.hpp"
#include "image/statics.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

// What is behind these bytes is not looked at: an image may have an array of any size, and most of it untouched.
constexpr uint64_t kMostOfOne = 64 << 10, kMostOfAll = 1 << 20;
constexpr size_t kMostName = 64;

struct Static {
  const char* now;
  char* before;  // a copy
  uint64_t bytes, whole;
  char name[kMostName];
};

// An image that goes leaves its place to another one, of another path: then it is dropped at the next look.
struct Watched {
  uint64_t begin = 0, end = 0;
  char path[128] = "";
  uint64_t taken = 0;  // bytes of the copies
  List<Static> statics;
};

Lock g_lock;  // over the rest
List<Watched> g_watched;
uint64_t g_regions = 0;
bool g_said = false;

void take_static(void* data, const ImageVariable& variable) {
  auto* image = static_cast<Watched*>(data);
  uint64_t bytes = std::min(variable.bytes, kMostOfOne), address = image->begin + variable.offset;
  bool fits = address + bytes <= image->end && image->taken + bytes <= kMostOfAll;
  if (!fits || may_access(address, 1)) return;
  Static found = {reinterpret_cast<const char*>(address), static_cast<char*>(std::malloc(bytes)), bytes, variable.bytes,
                  ""};
  if (found.before == nullptr) fatal("no memory for a copy of an image's variables");
  std::memcpy(found.before, found.now, bytes);
  std::snprintf(found.name, sizeof found.name, "%s", variable.name);
  image->taken += bytes;
  image->statics.push(found);
}

void read_file(Watched& image) {
  int file = file_of_image(image.path);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0 || facts.st_size <= 0) return;
  auto bytes = static_cast<size_t>(facts.st_size);
  void* content = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (content == MAP_FAILED) return;
  visit_variables({static_cast<const char*>(content), bytes}, take_static, &image);
  munmap(content, bytes);
}

void drop(size_t at) {
  for (Static& one : g_watched[at].statics) std::free(one.before);
  g_watched.erase(at);
}

Watched* find(uint64_t code) {
  for (Watched& image : g_watched) {
    if (code >= image.begin && code < image.end) return &image;
  }
  return nullptr;
}

link_map* module_of(uint64_t code) {
  Dl_info info;
  link_map* map = nullptr;
  bool is_found = dladdr1(reinterpret_cast<void*>(code), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  return is_found ? map : nullptr;
}

}  // namespace

void watch_statics(uint64_t code) {
  Guard guard(g_lock);
  if (g_said || find(code) != nullptr) return;
  link_map* map = module_of(code);
  if (map == nullptr) return;
  Watched image;
  std::snprintf(image.path, sizeof image.path, "%s", map->l_name);
  ImageRange range = range_of_image(map);  // glibc's handles are these
  image.begin = range.begin;
  image.end = range.end;
  read_file(image);  // of the program and its libraries nothing: GCC's tables list static variables, too
  g_watched.push(std::move(image));
}

bool have_statics_changed(uint64_t code, const char* region, const char* place, char* text, size_t bytes) {
  Guard guard(g_lock);
  ++g_regions;
  if (g_said || (g_regions & (g_regions - 1)) != 0) return false;
  const Watched* image = find(code);
  const link_map* map = module_of(code);
  if (image == nullptr || map == nullptr) return false;
  if (std::strcmp(map->l_name, image->path) != 0) {
    drop(static_cast<size_t>(image - g_watched.begin()));
    return false;
  }
  for (const Static& one : image->statics) {
    if (std::memcmp(one.now, one.before, one.bytes) == 0) continue;
    char where[384];
    describe_place(region, place, where, sizeof where);
    std::snprintf(
        text, bytes,
        "%s, or one before it, has changed the static variable %s (%lu bytes), of which each node of the cluster "
        "has its own: if regions share it, make it a `declare target` variable that other files can see",
        where, one.name, one.whole);
    return g_said = true;
  }
  return false;
}

}  // namespace marline::target
