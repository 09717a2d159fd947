// SPDX-License-Identifier: Apache-2.0
// Reads the settings of the emulated devices. The table below is the only place that knows a variable's name; its lines
// are the same as in README.md, in the same order. The first caller fills the settings, under the lock of a static.
#include "settings.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace emulator {
namespace {

bool read_number(std::string_view text, double& number) {
  std::string copy(text);
  char* end = nullptr;
  number = std::strtod(copy.c_str(), &end);
  return end != copy.c_str() && *end == 0 && number >= 0 && number < 1e18;
}

// A number of bytes: a plain number, or one with k, M, G or T for powers of 1024.
bool read_bytes(std::string_view text, double& number) {
  double unit = 1;
  if (const std::size_t at = std::string_view("kMGT").find(text.empty() ? ' ' : text.back());
      at != std::string_view::npos) {
    unit = static_cast<double>(std::uint64_t{1} << (10 * (at + 1)));
    text.remove_suffix(1);
  }
  if (!read_number(text, number)) {
    return false;
  }
  number *= unit;
  return true;
}

bool read_count(std::string_view text, double low, double high, std::uint64_t& count) {
  double number = 0;
  if (!read_bytes(text, number) || number < low || number > high) {
    return false;
  }
  count = static_cast<std::uint64_t>(number);
  return true;
}

bool read_pageable(std::string_view text, bool& waits) {
  waits = text == "wait";
  return waits || text == "stage";
}

bool read_domains(std::string_view text, std::vector<int>& domains) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::uint64_t domain = 0;
    const bool unknown = text.substr(0, comma) == "-1";
    if (!unknown && !read_count(text.substr(0, comma), 0, 1023, domain)) {
      return false;
    }
    domains.push_back(unknown ? -1 : static_cast<int>(domain));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

bool read_yes(std::string_view text, bool& value) {
  value = text == "yes";
  return value || text == "no";
}

// One of `alloc:5`, `launch:3@1`: kind, which one, on which device.
bool read_error(std::string_view text, InjectedError& error) {
  static constexpr std::string_view kNames[] = {"alloc", "copy", "launch", "illegal", "lost"};
  const std::size_t colon = text.find(':');
  const std::size_t at = text.find('@');
  if (colon == std::string_view::npos) {
    return false;
  }
  const auto* name = std::find(std::begin(kNames), std::end(kNames), text.substr(0, colon));
  std::uint64_t device = 0;
  if (name == std::end(kNames) || !read_count(text.substr(colon + 1, at - colon - 1), 1, 1e15, error.nth) ||
      (at != std::string_view::npos && !read_count(text.substr(at + 1), 0, 15, device))) {
    return false;
  }
  error.fault = static_cast<Fault>(name - std::begin(kNames));
  error.device = at == std::string_view::npos ? -1 : static_cast<int>(device);
  return true;
}

bool read_errors(std::string_view text, std::vector<InjectedError>& errors) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!read_error(text.substr(0, comma), errors.emplace_back())) {
      return false;
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

struct Option {
  const char* name;
  const char* expected;
  bool (*read)(std::string_view text, Settings& into);
};

constexpr Option kOptions[] = {
    {"MARLINE_EMULATOR_DEVICES", "a number from 0 to 16",
     [](std::string_view t, Settings& s) { return read_count(t, 0, 16, s.devices); }},
    {"MARLINE_EMULATOR_MEMORY", "bytes, from 16M to 1T",
     [](std::string_view t, Settings& s) { return read_count(t, 16 << 20, 1099511627776.0, s.memory); }},
    {"MARLINE_EMULATOR_BANDWIDTH", "bytes per second, for example 25G",
     [](std::string_view t, Settings& s) { return read_bytes(t, s.bandwidth); }},
    {"MARLINE_EMULATOR_LATENCY", "microseconds",
     [](std::string_view t, Settings& s) { return read_number(t, s.latency); }},
    {"MARLINE_EMULATOR_KERNEL_TIME", "microseconds",
     [](std::string_view t, Settings& s) { return read_number(t, s.kernel_time); }},
    {"MARLINE_EMULATOR_KERNELS", "a number from 1 to 128",
     [](std::string_view t, Settings& s) { return read_count(t, 1, 128, s.kernels); }},
    {"MARLINE_EMULATOR_THREADS", "a number from 1 to 1024",
     [](std::string_view t, Settings& s) { return read_count(t, 1, 1024, s.threads); }},
    {"MARLINE_EMULATOR_CPU", "a number from 0 to 1023",
     [](std::string_view t, Settings& s) { return read_count(t, 0, 1023, s.cpu); }},
    {"MARLINE_EMULATOR_PEERS", "yes or no", [](std::string_view t, Settings& s) { return read_yes(t, s.peers); }},
    {"MARLINE_EMULATOR_ADDRESSES", "yes or no",
     [](std::string_view t, Settings& s) { return read_yes(t, s.addresses); }},
    {"MARLINE_EMULATOR_NUMA", "numbers from -1 to 1023 with commas in between",
     [](std::string_view t, Settings& s) { return read_domains(t, s.domains); }},
    {"MARLINE_EMULATOR_PAGEABLE", "stage or wait",
     [](std::string_view t, Settings& s) { return read_pageable(t, s.pageable_waits); }},
    {"MARLINE_EMULATOR_MODEL_ABOVE", "bytes",
     [](std::string_view t, Settings& s) { return read_count(t, 0, 1e18, s.model_above); }},
    {"MARLINE_EMULATOR_ERROR",
     "alloc, copy, launch, illegal or lost, a colon and a number from 1, for example launch:3",
     [](std::string_view t, Settings& s) { return read_errors(t, s.errors); }},
    {"MARLINE_EMULATOR_LOG", "a file name or -",
     [](std::string_view t, Settings& s) {
       s.log = t;
       return true;
     }},
};

Settings read_settings() {
  Settings result;
  for (const Option& option : kOptions) {
    const char* value = std::getenv(option.name);
    if (value != nullptr && *value != 0 && !option.read(value, result)) {
      fatal("%s is '%s', expected %s; correct or unset it", option.name, value, option.expected);
    }
  }
  if (result.model_above == 0 && result.kernel_time < 0) {
    fatal("MARLINE_EMULATOR_MODEL_ABOVE is 0, so kernels do not run: set MARLINE_EMULATOR_KERNEL_TIME, too");
  }
  return result;
}

void print_line(const char* format, va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::fprintf(stderr, "marline emulator: %s\n", text);
}

}  // namespace

const Settings& settings() {
  static const Settings& value = *new Settings(read_settings());  // used by exit handlers: never destroyed
  return value;
}

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  std::_Exit(1);
}

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
}

}  // namespace emulator
