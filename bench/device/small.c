/* SPDX-License-Identifier: Apache-2.0
 *
 * What a step of many small regions takes: arrays of some kilobytes that stay on the device, two of them brought up
 * to date for each step, three regions that the program waits for, one of them with teams that meet at a barrier, and
 * two arrays brought back, which the program reads and from which it makes what comes next. Programs that were written
 * for a GPU that is near look like that (k-median, iterative refinement).
 *
 *     device-small-cpu [steps] [points]
 *
 * Figures: `step` in us, the median; `step_cpu`, the CPU time of the program itself, without its devices' processes;
 * and `total` in s.
 */
#include "device.h"

enum { kTeams = 4, kThreads = 256, kDimensions = 16, kCentres = 8 };

typedef struct {
  float weight;
  long assign;
  float cost;
} Point;

typedef struct {
  long points;
  float *coordinates, *gains;
  int* centres;
  char* moves;
  Point* data;
} Problem;

static void* array(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (!memory) bench_fail("no memory for %zu bytes", bytes);
  return memory;
}

static void step_on_device(const Problem* problem, long candidate) {
  long points = problem->points;
  float *coordinates = problem->coordinates, *gains = problem->gains;
  int* centres = problem->centres;
  char* moves = problem->moves;
  Point* data = problem->data;
#pragma omp target update to(data[0 : points])
#pragma omp target update to(centres[0 : points])
#pragma omp target teams distribute parallel for thread_limit(kThreads)
  for (long i = 0; i < points; ++i) moves[i] = 0;
#pragma omp target teams distribute parallel for thread_limit(kThreads)
  for (long i = 0; i < points * kCentres; ++i) gains[i] = 0;
#pragma omp target teams num_teams(kTeams) thread_limit(kThreads)
  {
    float chosen[kDimensions];
#pragma omp parallel
    {
      if (omp_get_thread_num() == 0)
        for (int d = 0; d < kDimensions; ++d) chosen[d] = coordinates[d * points + candidate];
#pragma omp barrier
      long workers = (long)omp_get_num_teams() * omp_get_num_threads();
      for (long i = omp_get_team_num() * omp_get_num_threads() + omp_get_thread_num(); i < points; i += workers) {
        float cost = 0;
        for (int d = 0; d < kDimensions; ++d) {
          float distance = coordinates[d * points + i] - chosen[d];
          cost += distance * distance;
        }
        cost *= data[i].weight;
        if (cost < data[i].cost) {
          moves[i] = 1;
        } else {
          gains[i * kCentres + centres[data[i].assign]] += cost - data[i].cost;
        }
      }
    }
  }
#pragma omp target update from(moves[0 : points])
#pragma omp target update from(gains[0 : points * kCentres])
}

/* What the program makes of it: points that moved have the candidate's number, and cost a little less. */
static double take_result(const Problem* problem, long candidate) {
  double gain = 0;
  for (long i = 0; i < problem->points; ++i) {
    Point* point = &problem->data[i];
    if (problem->moves[i]) {
      point->assign = candidate;
      point->cost *= 0.75f;
    } else {
      point->cost *= 1.05f;
    }
    for (int c = 0; c < kCentres; ++c) gain += problem->gains[i * kCentres + c];
    problem->centres[i] = (int)((problem->centres[i] + 1) % kCentres);
  }
  return gain;
}

int main(int argc, char** argv) {
  long steps = argc > 1 ? device_number("steps", argv[1], 1000000) : 2000;
  long points = argc > 2 ? device_number("points", argv[2], 1000000) : 1024;
  Problem problem = {points,
                     array((size_t)(points * kDimensions) * sizeof(float)),
                     array((size_t)(points * kCentres) * sizeof(float)),
                     array((size_t)points * sizeof(int)),
                     array((size_t)points),
                     array((size_t)points * sizeof(Point))};
  float *coordinates = problem.coordinates, *gains = problem.gains;
  int* centres = problem.centres;
  char* moves = problem.moves;
  Point* data = problem.data;
  for (long i = 0; i < points * kDimensions; ++i) coordinates[i] = (float)(i * 7919 % 1009) / 1009;
  for (long i = 0; i < points; ++i) {
    data[i] = (Point){1, i % points, 1};
    centres[i] = (int)(i % kCentres);
  }
  device_begin();
  double *took = array((size_t)steps * sizeof *took), gain = 0, cpu = device_cpu_now(), start = bench_now();
#pragma omp target data map(alloc : centres[0 : points], gains[0 : points * kCentres], moves[0 : points]) \
    map(alloc : data[0 : points]) map(to : coordinates[0 : points * kDimensions])
  for (long step = 0; step < steps; ++step) {
    double begin = bench_now();
    step_on_device(&problem, step % points);
    took[step] = 1e-3 * (bench_now() - begin);
    gain += take_result(&problem, step % points);
  }
  cpu = device_cpu_now() - cpu;
  double total = bench_now() - start;
  printf("# gain %.6e\n", gain);
  bench_say("step", bench_median(took, (int)steps), "us");
  bench_say("step_cpu", 1e-3 * cpu / (double)steps, "us");
  bench_say("total", 1e-9 * total, "s");
  return 0;
}
