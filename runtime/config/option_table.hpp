// SPDX-License-Identifier: Apache-2.0
//
// THE option table: one entry per environment variable. tools/gen_options_doc.py reads the strings of option_table.cpp.
#pragma once

#include <span>

#include "config/options.hpp"
#include "config/text.hpp"

namespace marline {

struct Option {
  const char* name;
  const char* default_value;  // in the form in which a user would write it; parsed like any other value
  const char* accepted;       // completes "expected ..." in the message about a value that is none of it
  const char* summary;
  bool (*parse)(Cursor& in, Options& to);  // false: not acceptable; `to` may then hold anything in this option's fields
  void (*show)(Text& out, const Options& from);
};

std::span<const Option> option_table();

}  // namespace marline
