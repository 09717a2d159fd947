// SPDX-License-Identifier: Apache-2.0
//
// Starts devices at the begin of the program, before main and after the constructors, on the first thread. Worker
// processes on other nodes stay here if the libraries loaded so far use devices; other worker processes run main up to
// its first question about devices. Devices that are processes of their own are forked here, from a process that has
// one thread and the values that the program's variables begin with. Not earlier, from a constructor: the loader may
// hold a lock then, and libraries are yet to be initialised.
//
// The startup code of every program calls __libc_start_main. Ours answers references to all versions of it (GLIBC_2.2.5
// and 2.34: see abi/exports.map) if this library is before the C library in the loader's order, as it is when
// preloaded. When it is loaded by the name of libgomp, abi/compat/compat.c leads here. Elsewhere the devices start with
// their first use.
#include "../common/environment.h"
#include "construct/device/provider.hpp"
#include "platform/elf_image.hpp"

#include "base/atomic.hpp"
#include "base/check.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main g_main;
Atomic<bool> g_has_begun{false};  // set by the first thread, read by threads that ask for devices; orders nothing else

bool begins_with(const char* text, const char* prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }

bool is_device_construct(const Binding& binding) {
  return begins_with(binding.symbol, "GOMP_target") || begins_with(binding.symbol, "__tgt_target");
}

bool is_openmp(const Binding& binding) {
  return begins_with(binding.symbol, "GOMP_") || begins_with(binding.symbol, "__kmpc_") ||
         begins_with(binding.symbol, "omp_");
}

bool is_preloaded(const char* path) {
  const char* names = trusted_variable("LD_PRELOAD");
  return names != nullptr && *path != '\0' && std::strstr(names, path) != nullptr;
}

// `own`: of this library.
bool is_of_installation(const char* path, const Dl_info& own) {
  const char* slash = std::strrchr(own.dli_fname, '/');
  size_t length = slash != nullptr ? static_cast<size_t>(slash + 1 - own.dli_fname) : 0;
  if (length == 0 || std::strncmp(path, own.dli_fname, length) != 0) return false;
  return begins_with(path + length, "libmarline") || begins_with(path + length, "marline/");
}

// Whether the program, or a library that belongs to it, refers to such a name. Preloaded libraries do not count: they
// are also in the shells that start the program.
template <bool (*is_sought)(const Binding&)>
bool any_program_code() {
  auto look = [](dl_phdr_info* info, size_t, void* own) {
    const char* path = info->dlpi_name;
    ElfImage image;
    bool is_programs = !is_preloaded(path) && !is_of_installation(path, *static_cast<const Dl_info*>(own));
    return is_programs && image.read(*info) && image.any_binding(is_sought) ? 1 : 0;
  };
  Dl_info own;
  return dladdr(reinterpret_cast<const void*>(&begins_with), &own) != 0 && dl_iterate_phdr(look, &own) != 0;
}

// Shells and similar programs that start a job, or that a program starts, use no OpenMP and are no workers: they have
// to run in each process. `marline devices` uses no OpenMP either, but asks for devices all the same. A program without
// target constructs has workers all the same, for its device routines, and so that `main` runs once.
bool wants_devices_early() {
  const char* text = trusted_variable("MARLINE_DEVICES");
  if (trusted_variable("MARLINE_JOB_SERVE") != nullptr) return true;
  if (text == nullptr) return false;
  bool has_workers = std::strstr(text, "nodes") != nullptr || std::strstr(text, "cluster") != nullptr;
  if (has_workers) return any_program_code<is_openmp>() || any_program_code<is_device_construct>();
  return std::strstr(text, "process") != nullptr && any_program_code<is_device_construct>();
}

int start_devices_and_main(int count, char** arguments, char** environment) {
  const marline_device_provider_t* devices = wants_devices_early() ? device_provider() : nullptr;
  if (devices != nullptr) devices->start();
  g_has_begun.store(true, relaxed);
  return g_main(count, arguments, environment);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int marline_main_has_begun() { return g_has_begun.load(relaxed) ? 1 : 0; }

int marline_libc_start_main(Main main, int count, char** arguments, void (*init)(), void (*fini)(),
                            void (*loader_fini)(), void* stack_end) {
  auto next = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  if (next == nullptr) fatal("the C library has no __libc_start_main behind Marline's");
  g_main = main;
  return next(start_devices_and_main, count, arguments, init, fini, loader_fini, stack_end);
}
[[gnu::alias("marline_libc_start_main")]] int __libc_start_main(Main main, int count, char** arguments, void (*init)(),
                                                                void (*fini)(), void (*loader_fini)(), void* stack_end);

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline
