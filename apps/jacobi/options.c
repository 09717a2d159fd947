/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <stdio.h>

#include "argument.h"

enum { kMost = 1000000, kMostEvery = 1000 };

static const char* const kFormNames[] = {"check-each", "check-every", "speculative", NULL};

static const Argument kArguments[] = {
    {"--form FORM      check-each (default): every iteration waits for the test of the one before; check-every: for\n"
     "                   the test of each K-th iteration; speculative: iterations run while earlier ones are tested,\n"
     "                   and are cancelled when a test holds",
     kChoice, offsetof(Options, form), "check-each", .words = kFormNames},
    {"--every K        of check-every: iterations from test to test (default {default})", kInt,
     offsetof(Options, every), "10", .low = 2, .high = kMostEvery, .given = offsetof(Options, given_every)},
    {"--ahead N        of speculative: iterations that may run before a test is over (default {default})", kInt,
     offsetof(Options, ahead), "2", .low = 1, .high = kMostAhead, .given = offsetof(Options, given_ahead)},
    {"--rows N         rows of the plane, which the ranks share (default {default})", kInt, offsetof(Options, rows),
     "512", .low = 1, .high = kMost},
    {"--columns M      columns (default {default})", kInt, offsetof(Options, columns), "1024", .low = 1, .high = kMost},
    {"--blocks B       blocks of rows of each rank, each a task of an iteration (default {default})", kInt,
     offsetof(Options, blocks), "8", .low = 1, .high = kMost},
    {"--shift S        what the diagonal is above 4: the larger, the fewer iterations (default {default})", kReal,
     offsetof(Options, shift), "0.5", .low = 1e-6, .high = 1e6},
    {"--tolerance EPS  stop when the residual is at most EPS times the first one (default {default})", kReal,
     offsetof(Options, tolerance), "1e-4", .low = 1e-12, .high = 1},
    {"--iterations K   fail if K are not enough (default {default})", kInt, offsetof(Options, iterations), "10000",
     .low = 1, .high = kMost},
    {"--solves N       solve N times, each time for another right-hand side (default {default})", kInt,
     offsetof(Options, solves), "1", .low = 1, .high = kMost},
    {"--seed S         of the right-hand sides (default {default})", kSeed, offsetof(Options, seed), .initial = "1"},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {0}};

const char* options_form(const Options* options) { return kFormNames[options->form]; }

int options_planes(const Options* options) { return options->form == kFormSpeculative ? options->ahead + 1 : 2; }

void options_print_usage(void) {
  printf(
      "usage: jacobi [--form FORM] [--every K] [--ahead N] [--rows N] [--columns M] [--blocks B] [--tolerance EPS] "
      "...\n"
      "Jacobi's iteration on a plane until the residual is small, by tasks on the ranks' strips of rows.\n");
  arguments_print(kArguments);
}

void options_parse(Options* options, int ranks, int argc, char** argv, Failure* failure) {
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  if (options->given_every && options->form != kFormCheckEvery) {
    failure_note(failure, kExitInput, "--every goes with --form check-every, not with %s", options_form(options));
  }
  if (options->given_ahead && options->form != kFormSpeculative) {
    failure_note(failure, kExitInput, "--ahead goes with --form speculative, not with %s", options_form(options));
  }
  if (options->form != kFormCheckEvery) {
    options->every = 1;
  }
  if (options->rows / ranks < options->blocks) {
    failure_note(failure, kExitInput, "%d rows on %d ranks cannot be cut into %d blocks each", options->rows, ranks,
                 options->blocks);
  }
}
