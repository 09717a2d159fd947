// SPDX-License-Identifier: Apache-2.0
//
// Compares static variables of images with earlier copies of them. Variables that the program has asked for are left
// out, as the cluster keeps them coherent; may_access returns true for them. The program asks for all of them before it
// sends the image's first region.
#include "device/cluster/worker/statics.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "base/list.hpp"
#include "device/contract/place.hpp"
#include "device/remote/worker/memory.hpp"
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

namespace marline::offload::device {

using namespace image;

namespace {

// Only the first 64 KiB of a variable and 1 MiB of an image are watched: an image may have an array of any size, mostly
// untouched.
constexpr uint64_t kMostOfOne = 64 << 10, kMostOfAll = 1 << 20;
constexpr size_t kMostName = 128;

struct Static {
  const char* now;
  char* before;           // the copy that `now` is compared with
  uint64_t bytes, whole;  // of the copy; of the variable
  bool has_begun;         // its guard says that it has been constructed
  char name[kMostName];
};

// A watched image. If it is unloaded, another image with another path may get its addresses. The next comparison
// notices that and drops the entry.
struct Watched {
  uint64_t begin = 0, end = 0;
  char path[128] = "";
  uint64_t taken = 0;  // bytes of the copies in `statics`
  List<Static> statics;
};

Lock g_lock;              // guards the variables below
List<Watched> g_watched;  // as many as images with variables
uint64_t g_regions = 0;
bool g_said = false;

// Called for each variable in the file of the image: keeps a copy of the variable.
void take_static(void* data, const ImageVariable& variable) {
  auto* image = static_cast<Watched*>(data);
  uint64_t bytes = std::min(variable.bytes, kMostOfOne), address = image->begin + variable.offset;
  bool fits = address + bytes <= image->end && image->taken + bytes <= kMostOfAll;
  if (!fits || may_access(address, 1)) return;
  Static found = {
      reinterpret_cast<const char*>(address), static_cast<char*>(std::malloc(bytes)), bytes, variable.bytes, false, ""};
  if (found.before == nullptr) fatal("no memory for a copy of an image's variables");
  std::memcpy(found.before, found.now, bytes);
  std::snprintf(found.name, sizeof found.name, "%s", variable.name);
  image->taken += bytes;
  image->statics.push(found);
}

// Keeps copies of the variables in the image's file.
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

// The image or library that contains the code; null: none does.
link_map* module_of(uint64_t code) {
  Dl_info info;
  link_map* map = nullptr;
  bool is_found = dladdr1(reinterpret_cast<void*>(code), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  return is_found ? map : nullptr;
}

// A static object of a C++ function is constructed by the first call of the function, on each node. Its guard variable
// says that it has been constructed (the Itanium ABI names the two _ZZ4funcvE3obj and _ZGVZ4funcvE3obj). The
// construction does not count as a change, as each node makes it for itself. Optimisers append a dot and a number to
// the names of the parts of a variable that they split.
bool is_guard(const Static& one) { return std::strncmp(one.name, "_ZGV", 4) == 0; }

// Whether the variable has changed by its construction since the last comparison. If so, its copy is updated.
bool is_constructed_now(const List<Static>& all, Static& one) {
  if (one.has_begun || std::strncmp(one.name, "_ZZ", 3) != 0) return false;
  for (const Static& other : all) {
    const char *guarded = other.name + 4, *name = one.name + 2;
    size_t length = std::strcspn(name, ".");
    bool is_of_it = is_guard(other) && std::strcspn(guarded, ".") == length && std::strncmp(guarded, name, length) == 0;
    one.has_begun = one.has_begun || is_of_it;
  }
  if (one.has_begun) std::memcpy(one.before, one.now, one.bytes);
  return one.has_begun;
}

}  // namespace

void watch_statics(uint64_t code) {
  Guard guard(g_lock);
  if (g_said || find(code) != nullptr) return;
  link_map* map = module_of(code);
  if (map == nullptr) return;
  Watched image;
  std::snprintf(image.path, sizeof image.path, "%s", map->l_name);
  ImageRange range = range_of_image(map);  // glibc's dlopen handles are pointers to link_map
  image.begin = range.begin;
  image.end = range.end;
  // This reads nothing for the program and its libraries (file_of_image), and need not: GCC's tables list their static
  // variables, too, so the cluster keeps these coherent.
  read_file(image);
  g_watched.push(std::move(image));
}

bool have_statics_changed(uint64_t code, const char* region, const char* place, char* text, size_t bytes) {
  Guard guard(g_lock);
  ++g_regions;
  if (g_said || (g_regions & (g_regions - 1)) != 0) return false;
  Watched* image = find(code);
  const link_map* map = module_of(code);
  if (image == nullptr || map == nullptr) return false;
  if (std::strcmp(map->l_name, image->path) != 0) {
    drop(static_cast<size_t>(image - g_watched.begin()));
    return false;
  }
  for (Static& one : image->statics) {
    if (is_guard(one) || std::memcmp(one.now, one.before, one.bytes) == 0) continue;
    if (is_constructed_now(image->statics, one)) continue;
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

}  // namespace marline::offload::device
