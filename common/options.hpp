// SPDX-License-Identifier: Apache-2.0
//
// The one form in which all libraries list their options, which are environment variables. Each library has a table of
// OptionRow. The variables are read by this table, and docs/options.md and option_names.hpp are made
// from it (tools/gen_options_doc.py).
#pragma once

#include <unistd.h>

#include "environment.h"
#include "text.hpp"

namespace marline {

// One option. `Values` is the structure in which the library stores the values of its options.
template <class Values>
struct OptionRow {
  const char* name;
  const char* default_value;  // in the form in which a user writes it; parsed like any other value
  const char* accepted;       // completes "expected ..." in the message about an unusable value
  const char* summary;
  // False: the value is not acceptable; this option's fields of `to` are then undefined. Null: the option is read where
  // it is needed.
  bool (*parse)(Cursor& in, Values& to) = nullptr;
  void (*show)(Text& out, const Values& from) = nullptr;  // null: shown as the user writes it
};

// An empty value counts as not given: with `OMP_X= ./a.out` a user removes a variable.
inline bool is_blank(const char* value) { return value == nullptr || Cursor(value).at_end(); }

template <class Row, class Values>
bool parse_value(const Row& option, const char* value, Values& to) {
  Cursor in(value);
  return option.parse(in, to) && in.at_end();
}

// Reads the option's value. If there is none, reads the default. If the value is unusable, calls `refuse` with the part
// of the value from the error on, and then reads the default. `refuse` must report the value. False: the default cannot
// be read either, because there is no memory for a copy of it.
template <class Values, class Refuse>
bool read_option(const OptionRow<Values>& option, const char* value, Values& to, Refuse refuse) {
  if (option.parse == nullptr) return true;
  if (!is_blank(value)) {
    Cursor in(value);
    if (option.parse(in, to) && in.at_end()) return true;
    refuse(in.rest());
  }
  return parse_value(option, option.default_value, to);
}

// The one message about a value that cannot be used, for the options of all libraries. `rest`: the part of the value
// from the error on; null: not known. `instead`: the value that is used; null: the program ends.
inline void describe_unusable(Text& out, const char* name, const char* value, const char* accepted, const char* rest,
                              const char* instead) {
  out.add("%s=\"%s\" is not usable", name, value);
  if (rest != nullptr) out.add(" from \"%s\" on", rest);
  out.add(": expected %s", accepted);
  if (instead != nullptr) out.add("; using the default, \"%s\"", instead);
}

// Writes that message to stderr as one line, for libraries that do not contain the runtime's `warn`. A warning is
// written by one process of a job (speaks_for_job), because all processes have the same value.
inline void report_unusable(const char* name, const char* value, const char* accepted, const char* rest,
                            const char* instead) {
  char line[1024];
  Text out(line, sizeof line - 1);  // room for the end of the line, also of a message that is cut off
  if (instead != nullptr && !speaks_for_job()) return;
  out.add("marline: %s: ", instead != nullptr ? "warning" : "fatal");
  describe_unusable(out, name, value, accepted, rest, instead);
  size_t length = out.length();
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, length) < 0) return;  // stderr is closed: the line is lost
}

// Ends the program because of an option's value. Runs no exit handlers: other threads may use what these destroy.
constexpr int kUnusableOption = 2;
[[noreturn]] inline void refuse_option(const char* name, const char* value, const char* accepted,
                                       const char* rest = nullptr) {
  report_unusable(name, value, accepted, rest, nullptr);
  _exit(kUnusableOption);
}

// Appends the lines of OMP_DISPLAY_ENV=verbose for the options of a library: each as it is given, or its default if it
// is not given or unusable. Asks the environment, as the library may not have read its options yet.
template <class Values, size_t N>
void show_options(Text& out, const OptionRow<Values> (&table)[N]) {
  for (const auto& option : table) {
    const char* value = trusted_variable(option.name);
    Values read{};
    const bool usable = !is_blank(value) && (option.parse == nullptr || parse_value(option, value, read));
    out.add("  [host] %s = '%s'\n", option.name, usable ? value : option.default_value);
  }
}

// The functions by which Marline's other libraries show their options. The runtime finds them by name, as it shows all
// options when it is loaded, before a library that needs the runtime can register a function with it.
using ShowOptions = void (*)(Text& out);
inline constexpr const char* kShowOptions[] = {"marline_mpi_options_show", "marline_device_options_show",
                                               "marline_trace_options_show"};

}  // namespace marline
