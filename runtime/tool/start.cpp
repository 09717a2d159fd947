// SPDX-License-Identifier: Apache-2.0
//
// Finding, starting and ending the tool (OpenMP 5.2, section 19.2): first an ompt_start_tool that is in the process,
// then the libraries of OMP_TOOL_LIBRARIES in turn, until one returns a result. In a program under ThreadSanitizer it
// also tries LLVM's Archer, if the loader finds it, because otherwise ThreadSanitizer would report a race wherever
// OpenMP orders two accesses. Marline exports no ompt_start_tool, so a function of this name belongs to a tool, or to
// another runtime, whose function returns null. The thread that starts the runtime runs this once, before any event.
// The thread that ends the process, or the tool, finalizes.
#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "base/version.hpp"
#include "config/options.hpp"
#include "tool/devices.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::tool {

namespace {

// Writes lines about the search for a tool to what OMP_TOOL_VERBOSE_INIT names: stdout, stderr or a file; or nowhere
// (disabled).
class Log {
 public:
  explicit Log(const char* where) {
    if (std::strcmp(where, "disabled") == 0 || where[0] == '\0') return;
    if (std::strcmp(where, "stdout") == 0) {
      out_ = stdout;
    } else if (std::strcmp(where, "stderr") == 0) {
      out_ = stderr;
    } else {
      out_ = std::fopen(where, "w");
      if (out_ == nullptr) warn("OMP_TOOL_VERBOSE_INIT: cannot write %s (%s)", where, std::strerror(errno));
    }
  }
  ~Log() {
    if (out_ == nullptr || out_ == stderr) return;
    if (out_ == stdout) {
      std::fflush(out_);
    } else {
      std::fclose(out_);
    }
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void line(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    if (out_ == nullptr) return;
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(out_, format, arguments);
    va_end(arguments);
    std::fputc('\n', out_);
  }

 private:
  FILE* out_ = nullptr;
};

ompt::StartToolResult* g_tool = nullptr;
// The process has given up its tool. Written before the runtime starts, or by the only thread of a forked process.
bool g_has_left = false;

ompt::StartToolResult* ask(void* handle, Log& log) {
  auto start = reinterpret_cast<ompt::StartTool>(dlsym(handle, "ompt_start_tool"));
  if (start == nullptr) {
    log.line("  no ompt_start_tool there");
    return nullptr;
  }
  static char version[64];
  std::snprintf(version, sizeof version, "Marline %s", kVersion);
  ompt::StartToolResult* result = start(kOpenmpVersion, version);
  log.line(result != nullptr ? "  ompt_start_tool found, it starts a tool" : "  ompt_start_tool found, it declines");
  return result;
}

ompt::StartToolResult* ask_library(const char* path, Log& log) {
  log.line("tool search: library %s", path);
  void* handle = dlopen(path, RTLD_LAZY);
  if (handle == nullptr) {
    log.line("  cannot be loaded: %s", dlerror());
    return nullptr;
  }
  ompt::StartToolResult* result = ask(handle, log);
  if (result == nullptr) dlclose(handle);
  return result;
}

ompt::StartToolResult* ask_libraries(const char* list, Log& log) {
  char* copy = strdup(list);
  if (copy == nullptr) fatal("no memory for OMP_TOOL_LIBRARIES");
  ompt::StartToolResult* result = nullptr;
  char* rest = nullptr;
  for (char* path = strtok_r(copy, ":", &rest); path != nullptr; path = strtok_r(nullptr, ":", &rest)) {
    result = ask_library(path, log);
    if (result != nullptr) break;
  }
  std::free(copy);
  return result;
}

}  // namespace

void initialize() {
  const Options& o = options();
  if (g_has_left) return;
  Log log(o.tool_verbose_init);
  if (!o.tool) {
    log.line("tool search: off (OMP_TOOL=disabled)");
    return;
  }
  log.line("tool search: this process");
  ompt::StartToolResult* tool = ask(RTLD_DEFAULT, log);
  if (tool == nullptr) tool = ask_libraries(o.tool_libraries, log);
  if (tool == nullptr && tsan_present()) tool = ask_library("libarcher.so", log);
  if (tool == nullptr) {
    log.line("tool search: no tool");
    return;
  }
  accept_callbacks();
  constexpr int kInitialDevice = 0;  // the host's number if there are no other devices
  if (tool->initialize(inquiry, kInitialDevice, &tool->tool_data) == 0) {
    log.line("tool search: the tool's initialize returned 0, it stays off");
    forget_callbacks();
    return;
  }
  log.line("tool search: the tool is on");
  g_tool = tool;
}

int control_tool(uint64_t command, uint64_t modifier, void* argument, const void* codeptr) {
  constexpr int kNoTool = -2, kNoCallback = -1;  // omp_control_tool_result_t
  if (g_tool == nullptr) return kNoTool;
  using ControlTool = int (*)(uint64_t, uint64_t, void*, const void*);
  auto call = reinterpret_cast<ControlTool>(get_callback(static_cast<int>(ompt::Callback::kControlTool)));
  return call != nullptr ? call(command, modifier, argument, codeptr) : kNoCallback;
}

void finalize() {
  ompt::StartToolResult* tool = g_tool;
  if (tool == nullptr) return;
  g_tool = nullptr;
  end_devices();
  forget_callbacks();
  tool->finalize(&tool->tool_data);
}

void leave() {
  g_has_left = true;
  g_tool = nullptr;
  forget_devices();
  forget_callbacks();
}

}  // namespace marline::tool
