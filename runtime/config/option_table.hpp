// SPDX-License-Identifier: Apache-2.0
//
// The table of options: one entry per environment variable. tools/gen_options_doc.py reads the strings of
// option_table.cpp.
#pragma once

#include <span>

#include "config/options.hpp"
#include "config/text.hpp"

namespace marline {

struct Option {
  const char* name;
  const char* default_value;  // in the form in which a user writes it; parsed like any other value
  const char* accepted;       // completes "expected ..." in the message about an unusable value
  const char* summary;
  // False: the value is not acceptable; this option's fields of `to` are then undefined.
  bool (*parse)(Cursor& in, Options& to);
  void (*show)(Text& out, const Options& from);
};

std::span<const Option> option_table();

}  // namespace marline
