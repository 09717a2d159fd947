// SPDX-License-Identifier: Apache-2.0
//
// The begin of the program, before main and behind the constructors, on the first thread. Workers of a program on other
// nodes stay here. Devices that are processes of their own are forked here, from a process that has one thread and the values
// that the program's variables begin with.
// Not earlier, from a constructor: the loader may hold a lock then, and libraries are yet to be initialised.
//
// The startup code of every program calls __libc_start_main. Ours answers references to all versions of it (GLIBC_2.2.5
// and 2.34: see abi/exports.map) if this library stands in front of the C library in the loader's order, as it does
// preloaded; by the name of libgomp, abi/compat/compat.c leads here. Elsewhere the devices start with their first use.
#include "construct/device/provider.hpp"
#include "platform/elf_image.hpp"

#include "base/check.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main g_main;

bool is_device_construct(const Binding& binding) {
  constexpr const char* kPrefixes[] = {"GOMP_target", "__tgt_target"};
  for (const char* prefix : kPrefixes) {
    if (std::strncmp(binding.symbol, prefix, std::strlen(prefix)) == 0) return true;
  }
  return false;
}

int calls_device_constructs(dl_phdr_info* info, size_t, void*) {
  static const char own = 0;
  ElfImage image;
  if (!image.read(*info) || image.contains(reinterpret_cast<uintptr_t>(&own))) return 0;
  return image.any_binding(is_device_construct) ? 1 : 0;
}

// Shells and the like that a job is started by, or that a program starts, have no such constructs, and are no workers.
// `marline devices` has none either, and asks all the same.
bool wants_devices_early() {
  const char* text = std::getenv("MARLINE_DEVICES");
  if (std::getenv("MARLINE_JOB_SERVE") != nullptr) return true;
  return text != nullptr &&
         (std::strstr(text, "process") != nullptr || std::strstr(text, "nodes") != nullptr ||
          std::strstr(text, "cluster") != nullptr) &&
         dl_iterate_phdr(calls_device_constructs, nullptr) != 0;
}

int start_devices_and_main(int count, char** arguments, char** environment) {
  if (const marline_device_provider_t* devices = device_provider()) devices->start();
  return g_main(count, arguments, environment);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int marline_libc_start_main(Main main, int count, char** arguments, void (*init)(), void (*fini)(),
                            void (*loader_fini)(), void* stack_end) {
  auto next = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  if (next == nullptr) fatal("the C library has no __libc_start_main behind Marline's");
  g_main = main;
  if (wants_devices_early()) main = start_devices_and_main;
  return next(main, count, arguments, init, fini, loader_fini, stack_end);
}
[[gnu::alias("marline_libc_start_main")]] int __libc_start_main(Main main, int count, char** arguments,
                                                                void (*init)(), void (*fini)(), void (*loader_fini)(),
                                                                void* stack_end);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline
