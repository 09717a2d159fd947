/* SPDX-License-Identifier: Apache-2.0
 *
 * Shots on the host; see forms.h. No state.
 */
#include "forms.h"

#include "nap.h"

static void run_shot(const Work* work, int shot) {
  const Earth* earth = work->earth;
  const Survey* survey = &earth->survey;
  if (work->ms_per_point > 0) {
    nap_for(work->ms_per_point * survey_work(survey, shot));
    return;
  }
  shot_migrate(survey, earth->truth, earth->smooth, earth->wavelet, shot, work->threads, stack_part(work->stack, shot),
               &work->stack->outcomes[shot]);
}

void forms_serial(const Work* work) {
  for (int shot = 0; shot < work->earth->survey.shots; ++shot) {
    run_shot(work, shot);
    stack_add(work->stack, shot);
  }
}

/* The sums are tasks, too: each starts as soon as its shot and the sum before it have ended. */
void forms_tasks(const Work* work) {
  const Stack* stack = work->stack;
  float* image = stack->image;
#pragma omp parallel
#pragma omp single
  for (int shot = 0; shot < work->earth->survey.shots; ++shot) {
    float* part = stack_part(stack, shot);
#pragma omp task firstprivate(shot) depend(out : part[0])
    run_shot(work, shot);
#pragma omp task firstprivate(shot) depend(in : part[0]) depend(inout : image[0])
    stack_add(stack, shot);
  }
}
