// SPDX-License-Identifier: Apache-2.0
//
// The table of options: one entry per environment variable. tools/gen_options_doc.py reads the strings of
// option_table.cpp.
#pragma once

#include <span>

#include "../common/options.hpp"
#include "config/options.hpp"

namespace marline {

using Option = OptionRow<Options>;

std::span<const Option> option_table();

}  // namespace marline
