/* SPDX-License-Identifier: Apache-2.0
 *
 * Output on rank 0; see report.h. No state.
 */
#include "report.h"

#include <math.h>
#include <stdio.h>

static double gflops(const Report* report) {
  double n = report->layout->n;
  return n * n * n / 3 / report->seconds * 1e-9;
}

static void print_lines(const Report* report) {
  const Layout* layout = report->layout;
  if (report->file) {
    printf("input %s\n", report->file);
  } else {
    printf("seed %lld\n", report->seed);
  }
  printf("n %d\ntile %d\ntiles %d\n", layout->n, layout->tile, layout->tiles);
  printf("ranks %d\ngrid %dx%d\nthreads %d\n", report->ranks, layout->grid_rows, layout->grid_cols, report->threads);
  printf("seconds %.6f\ngflops %.3f\n", report->seconds, gflops(report));
  if (report->checked) {
    printf("norm %.16e\nresidual %.6e\ntolerance %.6e\ncheck %s\n", report->norm, report->residual, report->tolerance,
           report->passed ? "passed" : "failed");
  } else {
    printf("check skipped\n");
  }
}

static void print_json_string(const char* text) {
  putchar('"');
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') {
      printf("\\%c", *c);
    } else if ((unsigned char)*c < 0x20) {
      printf("\\u%04x", *c);
    } else {
      putchar(*c);
    }
  }
  putchar('"');
}

/* JSON has neither NaN nor infinity. */
static void print_json_number(double value) {
  if (isfinite(value)) {
    printf("%.16e", value);
  } else {
    printf("null");
  }
}

static void print_json(const Report* report) {
  const Layout* layout = report->layout;
  if (report->file) {
    printf("{\"input\": ");
    print_json_string(report->file);
  } else {
    printf("{\"seed\": %lld", report->seed);
  }
  printf(", \"n\": %d, \"tile\": %d, \"tiles\": %d, \"ranks\": %d, \"grid\": \"%dx%d\", \"threads\": %d", layout->n,
         layout->tile, layout->tiles, report->ranks, layout->grid_rows, layout->grid_cols, report->threads);
  printf(", \"seconds\": %.6f, \"gflops\": %.3f", report->seconds, gflops(report));
  if (report->checked) {
    printf(", \"norm\": ");
    print_json_number(report->norm);
    printf(", \"residual\": ");
    print_json_number(report->residual);
    printf(", \"tolerance\": ");
    print_json_number(report->tolerance);
    printf(", \"check\": \"%s\"}\n", report->passed ? "passed" : "failed");
  } else {
    printf(", \"check\": \"skipped\"}\n");
  }
}

void report_print(const Report* report, bool json) {
  if (json) {
    print_json(report);
  } else {
    print_lines(report);
  }
  fflush(stdout);
}
