// SPDX-License-Identifier: Apache-2.0
//
// Prints the options as the option table shows them.
#include "config/show_options.hpp"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

#include "base/version.hpp"
#include "config/option_table.hpp"

namespace marline {

size_t options_format(const Options& source, bool verbose, char* buffer, size_t size) {
  Text out(buffer, size);
  out.add("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n");
  out.add("  MARLINE_VERSION = '%s'\n  _OPENMP = '%d'\n", kVersion, kOpenmpVersion);
  for (const Option& option : option_table()) {
    if (!verbose && strncmp(option.name, "OMP_", 4) != 0) continue;
    out.add("  [host] %s = '", option.name);
    option.show(out, source);
    out.add("'\n");
  }
  for (const char* name : kShowOptions) {
    auto show = verbose ? reinterpret_cast<ShowOptions>(dlsym(RTLD_DEFAULT, name)) : nullptr;
    if (show != nullptr) show(out);
  }
  out.add("OPENMP DISPLAY ENVIRONMENT END\n");
  return out.length();
}

size_t options_format_settings(const Options& source, const char* const* environment, char* buffer, size_t size) {
  static constexpr const char* kPrefixes[] = {"OMP_", "KMP_", "GOMP_", "MARLINE_"};
  Text out(buffer, size);
  out.add("\nUser settings:\n\n");
  for (; environment != nullptr && *environment != nullptr; ++environment) {  // null: clearenv
    for (const char* prefix : kPrefixes) {
      if (strncmp(*environment, prefix, strlen(prefix)) == 0) out.add("   %s\n", *environment);
    }
  }
  out.add("\nEffective settings:\n\n");
  for (const Option& option : option_table()) {
    out.add("   %s='", option.name);
    option.show(out, source);
    out.add("'\n");
  }
  return out.length();
}

namespace {

void print(const char* block, size_t length) {
  for (size_t done = 0; done < length;) {
    const ssize_t written = write(STDERR_FILENO, block + done, length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // stderr is closed
    done += static_cast<size_t>(written);
  }
}

}  // namespace

void options_display(bool verbose) {
  char block[16384];  // a longer list of values is cut off
  print(block, options_format(options(), verbose, block, sizeof block));
}

void options_display_settings() {
  char block[16384];
  print(block, options_format_settings(options(), environ, block, sizeof block));
}

}  // namespace marline
