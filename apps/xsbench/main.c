/* SPDX-License-Identifier: Apache-2.0
 *
 * Macroscopic cross sections of a reactor by random lookups, on devices or on the host. This file is the course of a
 * run. Everything here runs on the main thread.
 */
#include <omp.h>
#include <stdio.h>

#include "devices.h"
#include "host.h"
#include "options.h"
#include "report.h"

static Work work_of(const Options* options, Failure* failure) {
  Work work = {.kernels = options->kernels, .lookups = options->lookups, .sleep_ms = options->sleep_ms};
  if (!options->host) {
    work.devices = devices_prepare(options->devices, failure);
  }
  if (options->weak) {
    work.lookups *= work.devices;
    work.sleep_ms *= work.devices;
  }
  return work;
}

static void run_on_host(const Tables* tables, const Work* work, Outcome* outcome) {
  const double start = omp_get_wtime();
  outcome->sum = host_run(tables, work->lookups);
  outcome->seconds = outcome->kernels = omp_get_wtime() - start;
}

/* What the sum must be. */
static void expect(const Tables* tables, Report* report) {
  const Options* options = report->options;
  const unsigned long long published = options_published(options, report->work.lookups);
  if (options->sleep_ms > 0) {
    report->compared = "the number of lookups";
    report->expected = report_checksum((unsigned long long)report->work.lookups);
  } else if (options->expected >= 0) {
    report->compared = "--expect";
    report->expected = (unsigned long long)options->expected;
  } else if (options->check == kCheckKnown && published != 0) {
    report->compared = "the published checksum";
    report->expected = published;
  } else if (options->check != kCheckNone && !options->host) {
    report->compared = "the host";
    report->expected = report_checksum(host_run(tables, report->work.lookups));
  }
}

static void judge(const Report* report, Failure* failure) {
  const unsigned long long checksum = report_checksum(report->outcome.sum);
  if (report->compared && checksum != report->expected) {
    failure_note(failure, kExitWrong, "the checksum is %llu; by %s it is %llu", checksum, report->compared,
                 report->expected);
  }
}

static void look_up(const Tables* tables, Report* report, Failure* failure) {
  if (report->options->host) {
    run_on_host(tables, &report->work, &report->outcome);
  } else if (!devices_run(tables, &report->work, &report->outcome)) {
    failure_note(failure, kExitInput, "not enough memory for %d devices of %d kernels", report->work.devices,
                 report->work.kernels);
    return;
  }
  expect(tables, report);
  report_remarks(report);
  judge(report, failure);
  if (failure->code == 0) {
    report_figures(report);
  }
}

static void run(const Options* options, Failure* failure) {
  Report report = {.options = options, .work = work_of(options, failure)};
  if (failure->code != 0) {
    return;
  }
  Tables tables;
  const int nuclides = options_nuclides(options);
  const Lengths lengths = tables_lengths(options->grid, nuclides, options->gridpoints);
  report.bytes = tables_bytes(&lengths);
  if (tables_create(&tables, options->grid, nuclides, options->gridpoints)) {
    look_up(&tables, &report, failure);
  } else {
    failure_note(failure, kExitInput,
                 "not enough memory for tables of %.0f MB; take a smaller --size or --gridpoints, "
                 "or another --grid",
                 1e-6 * report.bytes);
  }
  tables_destroy(&tables);
}

int main(int argc, char** argv) {
  Failure failure = {0};
  Options options;
  options_parse(&options, argc, argv, &failure);
  if (failure.code == 0 && options.help) {
    options_print_usage();
  } else if (failure.code == 0) {
    run(&options, &failure);
  }
  if (failure.code != 0) {
    fprintf(stderr, "xsbench: %s\n", failure.text);
  }
  return failure.code;
}
