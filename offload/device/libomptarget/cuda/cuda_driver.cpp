// SPDX-License-Identifier: Apache-2.0
//
// Loads the driver's library and calls its functions. Functions and numbers of attributes: NVIDIA, CUDA Driver API,
// CUdevice_attribute.
#include "device/libomptarget/cuda/cuda_driver.hpp"

#include "base/device_set.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace marline::offload::device {

namespace {

constexpr int kMultiprocessors = 16, kPciBus = 33, kPciDevice = 34, kPciDomain = 50;
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76, kHostNumaDomain = 134;

struct Driver {
  int (*name)(char*, int, int) = nullptr;
  int (*uuid)(char*, int) = nullptr;
  int (*memory)(size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  void* library = nullptr;
  int count = -1;
};

template <class Function>
bool look_up(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(library, name));
  return to != nullptr;
}

Driver open_driver() {
  Driver driver;
  void* library = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);  // the name by which libomptarget opens it
  if (library == nullptr) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return driver;
  driver.library = library;
  int (*begin)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  bool whole =
      look_up(library, "cuInit", begin) && look_up(library, "cuDeviceGetCount", count) &&
      look_up(library, "cuDeviceGetName", driver.name) &&
      (look_up(library, "cuDeviceGetUuid_v2", driver.uuid) || look_up(library, "cuDeviceGetUuid", driver.uuid)) &&
      look_up(library, "cuDeviceTotalMem_v2", driver.memory) &&
      look_up(library, "cuDeviceGetAttribute", driver.attribute);
  if (!whole) return driver;
  if (begin(0) != 0 || count(&driver.count) != 0) driver.count = 0;
  return driver;
}

const Driver& driver() {
  static const Driver opened = open_driver();  // the first call is made under the lock of the list of devices
  return opened;
}

int attribute(int which, int gpu) {
  int value = 0;
  return driver().attribute(&value, which, gpu) == 0 ? value : 0;
}

// Asks the system if it knows the place of the card, otherwise the driver, which answers since CUDA 12.
int numa_domain(int gpu) {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.0/numa_node", attribute(kPciDomain, gpu),
                attribute(kPciBus, gpu), attribute(kPciDevice, gpu));
  int domain = -1;
  if (std::FILE* file = std::fopen(path, "re")) {
    if (std::fscanf(file, "%d", &domain) != 1) domain = -1;
    std::fclose(file);
  } else if (driver().attribute(&domain, kHostNumaDomain, gpu) != 0) {
    domain = -1;
  }
  return domain;
}

}  // namespace

void* cuda_routine(const char* name) { return driver().library != nullptr ? dlsym(driver().library, name) : nullptr; }

int cuda_gpu_count() { return driver().count; }

int cuda_capability(int gpu) { return 10 * attribute(kCapabilityMajor, gpu) + attribute(kCapabilityMinor, gpu); }

bool cuda_free_memory(size_t& bytes) {
  auto ask = reinterpret_cast<int (*)(size_t*, size_t*)>(cuda_routine("cuMemGetInfo_v2"));
  size_t all;
  return ask != nullptr && ask(&bytes, &all) == 0;
}

namespace {

constexpr int kAttributeContext = 1, kAttributeType = 2, kAttributeOrdinal = 9, kDeviceMemory = 2;

struct Contexts {
  int (*get_current)(void**) = nullptr;
  int (*set_current)(void*) = nullptr;
  int (*attribute)(void*, int, uint64_t) = nullptr;
  int (*retain)(void**, int) = nullptr;
  bool are_known = false;
};

const Contexts& contexts() {
  static const Contexts known = [] {
    Contexts found;
    void* library = driver().library;
    found.are_known = library != nullptr && look_up(library, "cuCtxGetCurrent", found.get_current) &&
                      look_up(library, "cuCtxSetCurrent", found.set_current) &&
                      look_up(library, "cuPointerGetAttribute", found.attribute) &&
                      look_up(library, "cuDevicePrimaryCtxRetain", found.retain);
    return found;
  }();
  return known;
}

// The primary context of a GPU, which libomptarget uses, too. It stays retained.
void* primary_context(int gpu) {
  static std::atomic<void*> known[kMostDevices];
  if (gpu < 0 || gpu >= kMostDevices) return nullptr;
  void* context = known[gpu].load();
  if (context != nullptr || contexts().retain(&context, gpu) != 0) return context;
  known[gpu].store(context);
  return context;
}

}  // namespace

bool has_cuda_contexts() { return contexts().are_known; }

void* cuda_context_of(uint64_t address) {
  const Contexts& cuda = contexts();
  unsigned type = 0;
  void* context = nullptr;
  if (!cuda.are_known || cuda.attribute(&type, kAttributeType, address) != 0 || type != kDeviceMemory) return nullptr;
  if (cuda.attribute(&context, kAttributeContext, address) == 0 && context != nullptr) return context;
  int gpu = -1;  // memory that was mapped at an address belongs to no context
  return cuda.attribute(&gpu, kAttributeOrdinal, address) == 0 ? primary_context(gpu) : nullptr;
}

bool make_cuda_context_current(int gpu) {
  const Contexts& cuda = contexts();
  void* current = nullptr;
  if (!cuda.are_known || cuda.get_current(&current) != 0) return false;
  if (current != nullptr) return true;
  // On failure the thread stays without a context, and the library that calls the driver reports the driver's error.
  void* context = primary_context(gpu);
  return context != nullptr && cuda.set_current(context) == 0;
}

CudaContext::CudaContext(void* context) {
  if (contexts().get_current(&old_) != 0) old_ = nullptr;
  failed_ = contexts().set_current(context) != 0;
}

CudaContext::~CudaContext() { (void)contexts().set_current(old_); }

namespace {

// CUmemAllocationProp and CUmemAccessDesc: NVIDIA, CUDA Driver API, Virtual Memory Management.
struct MemoryLocation {
  int type, id;
};
struct AllocationProperties {
  int type, handles;
  MemoryLocation location;
  void* windows;
  unsigned char flags[8];
};
struct MemoryAccess {
  MemoryLocation location;
  int flags;
};
constexpr int kPinned = 1, kOnDevice = 1, kReadWrite = 3;

template <class... Arguments>
bool call(const char* name, Arguments... arguments) {
  auto routine = reinterpret_cast<int (*)(Arguments...)>(cuda_routine(name));
  return routine != nullptr && routine(arguments...) == 0;
}

}  // namespace

size_t cuda_memory_at(int gpu, uint64_t address, size_t bytes) {
  AllocationProperties wanted = {kPinned, 0, {kOnDevice, gpu}, nullptr, {}};
  MemoryAccess access = {{kOnDevice, gpu}, kReadWrite};
  auto* properties = static_cast<const AllocationProperties*>(&wanted);
  size_t page = 0;
  uint64_t found = 0, handle = 0;
  constexpr unsigned long long kNoFlags = 0;
  if (!call("cuMemGetAllocationGranularity", &page, properties, 0) || page == 0) return 0;
  bytes = bytes / page * page;
  if (bytes == 0 || !call("cuMemAddressReserve", &found, bytes, size_t{0}, address, kNoFlags)) return 0;
  bool is_there = found == address && call("cuMemCreate", &handle, bytes, properties, kNoFlags);
  if (is_there && call("cuMemMap", address, bytes, size_t{0}, handle, kNoFlags) &&
      call("cuMemSetAccess", address, bytes, static_cast<const MemoryAccess*>(&access), size_t{1})) {
    return bytes;
  }
  if (handle != 0) (void)call("cuMemRelease", handle);
  (void)call("cuMemAddressFree", found, bytes);
  return 0;
}

void cuda_describe(int gpu, DeviceFacts& facts) {
  facts = {};
  facts.is_gpu = true;
  if (driver().name(facts.name, sizeof facts.name, gpu) != 0) facts.name[0] = '\0';
  unsigned char id[16];
  if (driver().uuid(reinterpret_cast<char*>(id), gpu) == 0) {
    std::snprintf(facts.uid, sizeof facts.uid,
                  "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", id[0], id[1], id[2],
                  id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]);
  }
  std::snprintf(facts.arch, sizeof facts.arch, "nvptx64");
  std::snprintf(facts.isa, sizeof facts.isa, "sm_%d", cuda_capability(gpu));
  std::snprintf(facts.vendor, sizeof facts.vendor, "nvidia");
  size_t bytes = 0;
  if (driver().memory(&bytes, gpu) == 0) facts.memory = bytes;
  facts.units = attribute(kMultiprocessors, gpu);
  facts.numa_domain = numa_domain(gpu);
}

}  // namespace marline::offload::device
