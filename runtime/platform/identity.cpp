// SPDX-License-Identifier: Apache-2.0
//
// The check for `marline run`: it compares the relocations of each loaded object with the addresses of this library.
// The values that the dynamic linker has written there decide where calls go, whatever search paths, versions or
// loading flags have led to them. The check runs in the thread that loads the library, and again in the thread that
// exits; between the two it keeps only the file's name.
#include "platform/identity.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "../common/environment.h"
#include "base/atomic.hpp"
#include "base/check.hpp"
#include "platform/elf_image.hpp"

namespace marline {
namespace {

enum class AuditTime {
  // Calls that have not been made are judged by their future target: correct while nothing has been dlopened.
  kStart,
  kExit,  // only calls that have been made count
};

constexpr int kRefused = 125;
constexpr size_t kReasonBytes = 2048;
constexpr const char* kOwnSoname = "libmarline.so";  // a version may follow
constexpr const char* kCallPrefixes[] = {"GOMP_", "__kmpc_", "omp_", "ompc_", "kmp_set_", "kmp_get_", "kmpc_"};
// Each parallel region starts at one of these functions: an object that defines one is a runtime, or contains one.
constexpr const char* kRuntimeMarks[] = {"GOMP_parallel", "__kmpc_fork_call"};
constexpr const char* kRuntimeNames[] = {"libgomp", "libomp", "libiomp5", "libmarline"};

char proof_path[PATH_MAX];  // empty: no proof is wanted. Written once, while the library is loaded.

bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

template <size_t N>
bool starts_with_one_of(const char* text, const char* const (&prefixes)[N]) {
  for (const char* prefix : prefixes) {
    if (starts_with(text, prefix)) return true;
  }
  return false;
}

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool is_this_library(const ElfImage& image) { return image.contains(reinterpret_cast<uintptr_t>(&proof_path)); }

bool contains_runtime(const ElfImage& image) {
  for (const char* mark : kRuntimeMarks) {
    if (image.defines(mark)) return true;
  }
  return false;
}

// Whether the library is meant as an OpenMP runtime, rather than having a runtime linked into it.
bool is_named_as_runtime(const ElfImage& image) {
  const char* name = image.soname() != nullptr ? image.soname() : file_name(image.path());
  return starts_with_one_of(name, kRuntimeNames);
}

// This library, or a library with a runtime's name that leads to it.
bool is_ours(const ElfImage& image) {
  return is_this_library(image) || (is_named_as_runtime(image) && image.needs_prefixed(kOwnSoname));
}

// Calls visit(const ElfImage&) -> bool for each object of the process until one call returns true.
template <class Visit>
bool any_object(Visit& visit) {
  const auto call = [](dl_phdr_info* info, size_t, void* argument) -> int {
    ElfImage image;
    return image.read(*info) && (*static_cast<Visit*>(argument))(image) ? 1 : 0;
  };
  return dl_iterate_phdr(call, &visit) != 0;
}

bool find_object(uintptr_t address, ElfImage* found) {
  auto holds = [&](const ElfImage& image) {
    if (!image.contains(address)) return false;
    *found = image;
    return true;
  };
  return any_object(holds);
}

// Writes the path of this process's executable into `path`.
void name_program(char (&path)[PATH_MAX]) {
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
}

// Writes the path of `image` into `path`; the dynamic linker does not know the program's own path.
void name_object(const ElfImage& image, char (&path)[PATH_MAX]) {
  if (image.path()[0] == '\0') return name_program(path);
  snprintf(path, sizeof path, "%s", image.path());
}

class Auditor {
 public:
  Auditor(AuditTime time, char* reason, size_t reason_bytes)
      : time_(time), reason_(reason), reason_bytes_(reason_bytes) {}

  // Whether an object that is no part of Marline refers to an OpenMP function.
  bool has_calls() const { return has_calls_; }
  // Both functions return true, with the reason written, at the first fault.
  bool finds_earlier_definition();
  bool operator()(const ElfImage& image);

 private:
  bool is_foreign(const ElfImage& user, const Binding& binding);
  void explain(const ElfImage& user, const ElfImage& provider, const char* symbol);

  AuditTime time_;
  bool has_calls_ = false;
  char* reason_;
  size_t reason_bytes_;
};

// A program that exports a runtime of its own comes before every library in the search order.
bool Auditor::finds_earlier_definition() {
  for (const char* mark : kRuntimeMarks) {
    ElfImage provider;
    const void* address = dlsym(RTLD_DEFAULT, mark);
    if (address == nullptr || !find_object(reinterpret_cast<uintptr_t>(address), &provider)) continue;
    // Objects that use another library are judged below.
    if (is_ours(provider) || is_named_as_runtime(provider)) continue;
    explain(provider, provider, mark);
    return true;
  }
  return false;
}

bool Auditor::operator()(const ElfImage& image) {
  if (is_ours(image)) return false;
  // The objects that use it are judged, not the runtime itself.
  if (contains_runtime(image) && is_named_as_runtime(image)) return false;
  return image.any_binding([&](const Binding& binding) { return is_foreign(image, binding); });
}

bool Auditor::is_foreign(const ElfImage& user, const Binding& binding) {
  if (!starts_with_one_of(binding.symbol, kCallPrefixes)) return false;
  has_calls_ = true;
  uintptr_t target = binding.value;
  const bool unresolved = user.contains(target) && target != binding.own;
  if (unresolved) {
    if (time_ == AuditTime::kExit) return false;  // the call was never made
    // By name alone, whatever version the object asks for: this library's definitions have no version, and match all.
    target = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, binding.symbol));
  }
  ElfImage provider;
  if (target == 0 || !find_object(target, &provider)) return false;
  if (is_ours(provider) || !contains_runtime(provider)) return false;
  explain(user, provider, binding.symbol);
  return true;
}

// At the start only a preloaded library can come before Marline. Later, RTLD_DEEPBIND puts an object's own libraries,
// which its RPATH may find, before all others.
void Auditor::explain(const ElfImage& user, const ElfImage& provider, const char* symbol) {
  char user_path[PATH_MAX];
  char provider_path[PATH_MAX];
  name_object(user, user_path);
  name_object(provider, provider_path);
  int length =
      snprintf(reason_, reason_bytes_, "%s takes %s from %s, not from Marline; ", user_path, symbol, provider_path);
  if (length < 0 || static_cast<size_t>(length) >= reason_bytes_) return;
  char* advice = reason_ + length;
  const size_t advice_bytes = reason_bytes_ - static_cast<size_t>(length);
  const char* preloaded = trusted_variable("LD_PRELOAD");
  ElfImage self;
  find_object(reinterpret_cast<uintptr_t>(&proof_path), &self);
  if (!is_named_as_runtime(provider)) {
    snprintf(advice, advice_bytes, "an OpenMP runtime is linked into that file: link it against the shared one");
  } else if (preloaded != nullptr && strstr(preloaded, provider_path) != nullptr) {
    snprintf(advice, advice_bytes, "take that library out of LD_PRELOAD");
  } else if (time_ == AuditTime::kStart || !self.defines(symbol)) {
    snprintf(advice, advice_bytes, "Marline does not provide this entry point yet");
  } else if (user.rpath() != nullptr) {
    snprintf(advice, advice_bytes, "load it without RTLD_DEEPBIND, or take its RPATH %s out (patchelf --remove-rpath)",
             user.rpath());
  } else {
    snprintf(advice, advice_bytes, "load it without RTLD_DEEPBIND");
  }
}

void record(const char* kind, const char* text) {
  char line[PATH_MAX + 16];
  const int length = snprintf(line, sizeof line, "%s\t%s\n", kind, text);
  const int file = open(proof_path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line, static_cast<size_t>(length)) != length) {
    warn("cannot write MARLINE_PROOF=%s: %s; give a file that this process can write", proof_path, strerror(errno));
  }
  if (file >= 0) close(file);
}

void refuse(const char* reason) {
  char line[kReasonBytes + 32];
  const int length = snprintf(line, sizeof line, "marline: refused: %s\n", reason);
  record("refused", reason);
  // Stderr is closed; the line in the file remains.
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) != length) return;
}

// Whether each OpenMP entry point that an object of this process calls is bound to this library. If not, `reason` names
// the object, the runtime that it uses instead, and what to do. Takes the dynamic linker's lock.
[[nodiscard]] bool audit(AuditTime time, char* reason, size_t reason_bytes) {
  Auditor auditor(time, reason, reason_bytes);
  if (time == AuditTime::kStart && auditor.finds_earlier_definition()) return false;
  if (any_object(auditor)) return false;
  if (auditor.has_calls()) record_use();
  return true;
}

__attribute__((constructor)) void prove_at_start() {
  const char* wanted = trusted_variable("MARLINE_PROOF");
  if (wanted == nullptr || wanted[0] == '\0') return;
  snprintf(proof_path, sizeof proof_path, "%s", wanted);
  char reason[kReasonBytes];
  if (!audit(AuditTime::kStart, reason, sizeof reason)) {
    refuse(reason);
    _exit(kRefused);
  }
  ElfImage self;
  find_object(reinterpret_cast<uintptr_t>(&proof_path), &self);
  record("loaded", self.path());
}

// The exit status is already the program's, and its buffered output is not written yet: this can only report.
__attribute__((destructor)) void confirm_at_exit() {
  char reason[kReasonBytes];
  if (proof_path[0] != '\0' && !audit(AuditTime::kExit, reason, sizeof reason)) refuse(reason);
}

}  // namespace

void record_use() {
  static Atomic<bool> is_recorded{false};
  if (proof_path[0] == '\0' || is_recorded.exchange(true, relaxed)) return;
  char path[PATH_MAX];
  name_program(path);
  record("uses", path);
}

}  // namespace marline
