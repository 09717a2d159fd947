/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the remarks and figures of a run. No state.
 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a, word by word. */
static uint64_t hash_array(uint64_t hash, const double* array, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits;
    memcpy(&bits, &array[i], sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

uint64_t report_hash(const Fields* f) {
  uint64_t hash = 14695981039346656037u;
  const double* of_elements[] = {f->energy, f->pressure, f->viscosity, f->linear, f->quadratic, f->volume, f->sound};
  for (size_t i = 0; i < sizeof of_elements / sizeof *of_elements; ++i) {
    hash = hash_array(hash, of_elements[i], f->mesh->elements);
  }
  for (int a = 0; a < 3; ++a) {
    hash = hash_array(hash, f->position[a], f->mesh->nodes);
    hash = hash_array(hash, f->velocity[a], f->mesh->nodes);
  }
  return hash;
}

void report_memory(const Report* report) {
  printf("# memory_mib %.1f\n", report->bytes / 1048576);
  fflush(stdout);
}

/* Prints the tasks of a cycle, and the number of dependences if each access named one. */
static void print_plan(const Plan* plan) {
  printf("# tel %d\n# tnl %d\n# tasks_per_cycle %d\n", plan->tiling.element_tasks, plan->tiling.node_tasks,
         plan_tasks(plan));
  printf("# dependences_per_cycle %lld\n# before_filtering %lld\n# passed_as %s\n", plan->dependences,
         plan->before_filtering, plan->tiling.objects ? "objects" : "clauses");
}

void report_begin(const Report* report) {
  const Options* options = report->options;
  int64_t elements = (int64_t)options->size * options->size * options->size;
  printf("# form %s\n# size %d\n# ranks %d\n# threads %d\n# elements %lld\n", options_form(options), options->size,
         report->ranks, report->threads, (long long)(elements * report->ranks));
  printf("# regions %d\n# balance %d\n# cost %d\n", options->regions, options->balance, options->cost);
  if (report->tasks) {
    print_plan(report->tasks->plan);
  }
  fflush(stdout);
}

/* The energies of the plane z = 0 mirrored at its diagonal. Quotients of zeros are NaN, and do not count. */
static void print_symmetry(const Fields* fields) {
  int n = fields->mesh->edge;
  double largest = 0, sum = 0, largest_relative = 0;
  for (int j = 0; j < n; ++j) {
    for (int k = j + 1; k < n; ++k) {
      double one = fields->energy[j * n + k], other = fields->energy[k * n + j];
      double difference = fabs(one - other);
      sum += difference;
      largest = difference > largest ? difference : largest;
      largest_relative = difference / other > largest_relative ? difference / other : largest_relative;
    }
  }
  printf("# symmetry_largest %.6e\n# symmetry_sum %.6e\n# symmetry_relative %.6e\n", largest, sum, largest_relative);
}

/* Time of the threads per task, and collisions in the table of dependences per cycle. */
static void print_tasks(const Report* report, int cycle) {
  const TaskRun* run = report->tasks;
  const marline_mpi_speculation_counts_t* in_vain = &run->speculation;
  if (in_vain->sent > 0) {
    printf("# receives_withdrawn %llu\n# messages_drained %llu\n# calls_refused %llu\n",
           (unsigned long long)in_vain->withdrawn, (unsigned long long)in_vain->drained,
           (unsigned long long)in_vain->refused);
  }
  printf("discovery_s %.6f s\ntasks %lld tasks\n", run->discovery, run->created);
  printf("granularity_us %.6g us\n", 1e6 * report->seconds * report->threads / (double)run->created);
  if (run->entries->counters_read) {
    printf("edges %llu edges\npruned %llu edges\n", (unsigned long long)run->counted.edges,
           (unsigned long long)run->counted.pruned);
    printf("collisions %.6g probes\n", (double)run->counted.probes / cycle);
  }
}

void report_end(const Report* report, const Fields* fields) {
  double elements = fields->mesh->elements;
  double grind = report->seconds * 1e6 / (fields->cycle * elements);
  printf("# cycles %d\n# origin_energy %.6e\n# origin_energy_exactly %.17g\n", fields->cycle, fields->energy[0],
         fields->energy[0]);
  print_symmetry(fields);
  printf("# fields %016llx\n", (unsigned long long)report->hash);
  printf("elapsed_s %.6f s\ngrind_rank_us %.8g us\ngrind_us %.8g us\n", report->seconds, grind, grind / report->ranks);
  printf("fom %.8g z/s\n", 1000.0 / (grind / report->ranks));
  if (report->tasks) {
    print_tasks(report, fields->cycle);
  }
  fflush(stdout);
}
