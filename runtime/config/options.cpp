// SPDX-License-Identifier: Apache-2.0
//
// Holds the options in force.
#include "config/options.hpp"

namespace marline {

namespace {

// Written by config/read_options.cpp. There are no other threads then, except one that may ask for options while
// another thread reads the environment (settle_options).
Options the_options;

}  // namespace

const Options& options() { return the_options; }

Options& options_to_write() { return the_options; }

}  // namespace marline
