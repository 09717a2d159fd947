/* SPDX-License-Identifier: Apache-2.0
 *
 * The geometry of a survey, for host and devices: a model of nx columns and nz rows of points, a line of shots in it,
 * and the window of columns that takes part in each. Row 0 is the surface. Constant once it is made; read by any
 * thread.
 *
 * A shot's source and its receivers, one in each column of the window, lie in the same row. Around the window the grid
 * has a sponge, which absorbs waves, and kHalo points that stay zero.
 */
#ifndef RTM_SURVEY_H
#define RTM_SURVEY_H

#include <stddef.h>

enum { kHalo = 4 }; /* how far the stencil reaches */

typedef struct {
  int nx, nz;
  int sponge; /* points on each side */
  int steps;  /* of time */
  int shots;
  int aperture;  /* columns on each side of a source that take part */
  int row;       /* of sources and receivers */
  float fastest; /* what the fastest wave travels in a step, in grid spacings */
} Survey;

typedef struct {
  int first; /* column of the model */
  int columns;
  int source; /* its column, counted from `first` */
} Window;

#pragma omp declare target

/* Sources are spread evenly; half an interval is left at both ends of the line. */
static inline Window survey_window(const Survey* survey, int shot) {
  const int source = (int)((2LL * shot + 1) * survey->nx / (2LL * survey->shots));
  const int first = source > survey->aperture ? source - survey->aperture : 0;
  const int end = survey->nx - source > survey->aperture ? source + survey->aperture + 1 : survey->nx;
  return (Window){first, end - first, source - first};
}

/* Numbers of a window's border, kHalo points wide: what is kept of a wave in each step. */
static inline size_t survey_border(const Survey* survey, const Window* window) {
  return 2 * (size_t)kHalo * ((size_t)survey->nz + (size_t)window->columns - 2 * kHalo);
}

/* Points that a shot computes: three waves on the grid, and one on the window: the source's, backwards. */
static inline double survey_work(const Survey* survey, int shot) {
  const Window window = survey_window(survey, shot);
  const double grid = (window.columns + 2.0 * survey->sponge) * (survey->nz + 2.0 * survey->sponge);
  return survey->steps * (3 * grid + (double)window.columns * survey->nz);
}

#pragma omp end declare target

#endif
