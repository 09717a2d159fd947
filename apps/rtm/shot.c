/* SPDX-License-Identifier: Apache-2.0
 *
 * See shot.h. A shot is one parallel region whose threads share the columns. Each step ends with a barrier, and nothing
 * is written by two columns.
 *
 * First forward through the earth: what the receivers hear. Then forward through the smooth model: what they would hear
 * without reflectors is taken off, and the wave's values at the window's border are kept for each step. Last, back in
 * time: the receivers play what is left backwards, while the source's wave is computed backwards from its last two
 * steps and its border. The image is the sum over time of the product of both.
 */
#include "shot.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum {
  /* Steps between the times of the image. A wave of 2.5 points (earth.c) or more takes so many steps for a period
   * that the product of two waves does not seem to stand still if it is seen this often. */
  kImageEvery = 4,
  kTaperPart = 8, /* receivers in the outermost eighth of a window's half are played the softer the further out */
  kFields = 4,    /* two of the source's wave, two of the receivers' */
};

#pragma omp declare target

typedef struct {
  const Survey* survey;
  Window window;
  int columns, rows; /* of the grid: window and sponge */
  size_t pitch;      /* from a column to the next: rows and halo */
  float* fields[kFields];
  float* factors;   /* k of each point, with the pitch of a field */
  float* damping_x; /* the parts of d of each column */
  float* damping_z; /* and of each row */
  float* records;   /* of step 0 to `steps`: what each receiver hears */
  float* borders;   /* of step 0 to `steps`: the source's wave on the window's border */
} Shot;

/* How many numbers of each kind there are. */
typedef struct {
  size_t field, damping, records, borders;
} Sizes;

static Sizes sizes_of(const Survey* survey, const Window* window) {
  const size_t columns = (size_t)window->columns + 2 * (size_t)survey->sponge;
  const size_t rows = (size_t)survey->nz + 2 * (size_t)survey->sponge, times = (size_t)survey->steps + 1;
  return (Sizes){.field = (columns + 2 * kHalo) * (rows + 2 * kHalo),
                 .damping = columns + rows,
                 .records = times * (size_t)window->columns,
                 .borders = times * survey_border(survey, window)};
}

size_t shot_bytes(const Survey* survey, int shot) {
  const Window window = survey_window(survey, shot);
  const Sizes sizes = sizes_of(survey, &window);
  return sizeof(float) * ((kFields + 1) * sizes.field + sizes.damping + sizes.records + sizes.borders);
}

/* All memory is one block, which begins with the first field. NULL: there is not enough. */
static float* make(Shot* shot, const Survey* survey, int number) {
  *shot = (Shot){.survey = survey, .window = survey_window(survey, number)};
  const Sizes sizes = sizes_of(survey, &shot->window);
  float *block = malloc(shot_bytes(survey, number)), *next = block;
  shot->columns = shot->window.columns + 2 * survey->sponge;
  shot->rows = survey->nz + 2 * survey->sponge;
  shot->pitch = (size_t)shot->rows + 2 * kHalo;
  if (!block) {
    return NULL;
  }
  for (int i = 0; i < kFields; ++i, next += sizes.field) {
    shot->fields[i] = next;
  }
  shot->factors = next;
  shot->damping_x = shot->factors + sizes.field;
  shot->damping_z = shot->damping_x + shot->columns;
  shot->records = shot->damping_z + shot->rows;
  shot->borders = shot->records + sizes.records;
  return block;
}

/* Where a column of a field begins, counted from the grid's first one. */
static float* column_of(const Shot* shot, float* field, int x) {
  return field + (size_t)(x + kHalo) * shot->pitch + kHalo;
}

/* The same for a column of the window, from its first row. */
static float* inside(const Shot* shot, float* field, int x) {
  return column_of(shot, field, x + shot->survey->sponge) + shot->survey->sponge;
}

/* Preparation ------------------------------------------------------------------------------------------------------ */

/* sigma * time step of one of `points`: a wave that crosses the sponge and comes back has lost all but e^-7. */
static float damping(const Survey* survey, int points, int place) {
  const int from_border = place < points / 2 ? place : points - 1 - place;
  if (from_border >= survey->sponge) {
    return 0;
  }
  const float depth = (float)(survey->sponge - from_border) / (float)survey->sponge;
  return 10.5F / (float)survey->sponge * survey->fastest * depth * depth;
}

static void fill_damping(const Shot* shot) {
  for (int x = 0; x < shot->columns; ++x) {
    shot->damping_x[x] = damping(shot->survey, shot->columns, x);
  }
  for (int z = 0; z < shot->rows; ++z) {
    shot->damping_z[z] = damping(shot->survey, shot->rows, z);
  }
}

static int between(int low, int value, int high) { return value < low ? low : value > high ? high : value; }

/* In the sponge the medium goes on as it is at the window's border. By all threads. */
static void fill_factors(const Shot* shot, const float* model) {
  const Survey* survey = shot->survey;
#pragma omp for schedule(static)
  for (int x = 0; x < shot->columns; ++x) {
    const int from = shot->window.first + between(0, x - survey->sponge, shot->window.columns - 1);
    float* factors = column_of(shot, shot->factors, x);
    for (int z = 0; z < shot->rows; ++z) {
      const float way =
          model[(size_t)from * (size_t)survey->nz + (size_t)between(0, z - survey->sponge, survey->nz - 1)];
      factors[z] = way * way;
    }
  }
}

/* By all threads. */
static void silence(const Shot* shot, int first, int count) {
#pragma omp for schedule(static)
  for (int x = -kHalo; x < shot->columns + kHalo; ++x) {
    for (int i = first; i < first + count; ++i) {
      memset(column_of(shot, shot->fields[i], x) - kHalo, 0, shot->pitch * sizeof(float));
    }
  }
}

/* A step of a wave ------------------------------------------------------------------------------------------------- */

/* One column of the grid, with damping where there is some. */
static void step_column(const Shot* shot, float* next_field, float* now_field, int x) {
  float *next = column_of(shot, next_field, x), *now = column_of(shot, now_field, x);
  const float *factors = column_of(shot, shot->factors, x), *rows = shot->damping_z;
  const ptrdiff_t pitch = (ptrdiff_t)shot->pitch;
  const int sponge = shot->survey->sponge, below = shot->rows - sponge;
  const float here = shot->damping_x[x];
  if (here > 0) {
    kernel_damped(next, now, factors, here, rows, pitch, 0, shot->rows);
  } else {
    kernel_damped(next, now, factors, here, rows, pitch, 0, sponge);
    kernel_free(next, now, factors, pitch, sponge, below);
    kernel_damped(next, now, factors, here, rows, pitch, below, shot->rows);
  }
}

static void add_source(const Shot* shot, float* field, int x, float source) {
  if (x == shot->window.source) {
    const int row = shot->survey->row;
    inside(shot, field, x)[row] += inside(shot, shot->factors, x)[row] * source;
  }
}

static float* record_of(const Shot* shot, int step, int x) {
  return shot->records + (size_t)step * (size_t)shot->window.columns + x;
}

/* Where the border of this column lies in that of a step. */
static float* border_of(const Shot* shot, int step, int x) {
  const size_t nz = (size_t)shot->survey->nz;
  const int last = shot->window.columns - kHalo;
  const size_t whole = (size_t)(x < kHalo ? x : x < last ? kHalo : kHalo + x - last);
  const size_t parted = (size_t)(x < kHalo ? 0 : x < last ? x - kHalo : last - kHalo);
  return shot->borders + (size_t)step * survey_border(shot->survey, &shot->window) + whole * nz + parted * 2 * kHalo;
}

static int is_whole(const Shot* shot, int x) { return x < kHalo || x >= shot->window.columns - kHalo; }

static void keep_border(const Shot* shot, const float* column, int step, int x) {
  float* border = border_of(shot, step, x);
  const int nz = shot->survey->nz;
  if (is_whole(shot, x)) {
    memcpy(border, column, (size_t)nz * sizeof(float));
  } else {
    memcpy(border, column, kHalo * sizeof(float));
    memcpy(border + kHalo, column + nz - kHalo, kHalo * sizeof(float));
  }
}

/* One column of the source's wave, a step earlier: from its border, and inside of it by the formula. */
static void step_back(const Shot* shot, float* next_field, float* now_field, int step, int x) {
  float* next = inside(shot, next_field, x);
  const float* border = border_of(shot, step, x);
  const int nz = shot->survey->nz;
  if (is_whole(shot, x)) {
    memcpy(next, border, (size_t)nz * sizeof(float));
    return;
  }
  kernel_free(next, inside(shot, now_field, x), inside(shot, shot->factors, x), (ptrdiff_t)shot->pitch, kHalo,
              nz - kHalo);
  memcpy(next, border, kHalo * sizeof(float));
  memcpy(next + nz - kHalo, border + kHalo, kHalo * sizeof(float));
}

/* The three parts; each by all threads ----------------------------------------------------------------------------- */

/* Field step % 2 has the wave of that step, the other one that of the step before. */
static void model_records(const Shot* shot, const float* wavelet) {
  for (int step = 0; step < shot->survey->steps; ++step) {
    float *now = shot->fields[step % 2], *next = shot->fields[(step + 1) % 2];
#pragma omp for schedule(static)
    for (int x = 0; x < shot->columns; ++x) {
      const int in_window = x - shot->survey->sponge;
      step_column(shot, next, now, x);
      add_source(shot, next, in_window, wavelet[step]);
      if (in_window >= 0 && in_window < shot->window.columns) {
        *record_of(shot, step + 1, in_window) = inside(shot, next, in_window)[shot->survey->row];
      }
    }
  }
}

static void model_source(const Shot* shot, const float* wavelet) {
  for (int step = 0; step < shot->survey->steps; ++step) {
    float *now = shot->fields[step % 2], *next = shot->fields[(step + 1) % 2];
#pragma omp for schedule(static)
    for (int x = 0; x < shot->columns; ++x) {
      const int in_window = x - shot->survey->sponge;
      step_column(shot, next, now, x);
      add_source(shot, next, in_window, wavelet[step]);
      if (in_window >= 0 && in_window < shot->window.columns) {
        const float* column = inside(shot, next, in_window);
        *record_of(shot, step + 1, in_window) -= column[shot->survey->row];
        keep_border(shot, column, step + 1, in_window);
      }
    }
  }
}

/* How loud a receiver is played: the line of receivers ends softly, else its ends would send waves of their own. */
static float loudness(const Shot* shot, int x) {
  const int columns = shot->window.columns, taper = columns / (2 * kTaperPart);
  const int from_end = x < columns / 2 ? x : columns - 1 - x;
  const float part = (float)(from_end + 1) / (float)(taper + 1);
  return from_end < taper ? part * part * (3 - 2 * part) : 1;
}

/* A row of sources, each of strength 2 way / spacing * (its record's derivative), sends the record itself to both
 * sides. `way` is in `smooth`, without the square. */
static void play_record(const Shot* shot, float* field, float way, int step, int x) {
  const float change = *record_of(shot, step, x) - *record_of(shot, step + 2, x);
  inside(shot, field, x)[shot->survey->row] += way * loudness(shot, x) * change;
}

static void add_image(const Shot* shot, const float* source, const float* heard, int x, float* image) {
  const int nz = shot->survey->nz;
  float* here = image + (size_t)x * (size_t)nz;
  float* light = here + (size_t)shot->window.columns * (size_t)nz;
#pragma omp simd
  for (int z = 0; z < nz; ++z) {
    here[z] += source[z] * heard[z];
    light[z] += source[z] * source[z];
  }
}

/* What one column does to come from the steps `step` + 1 and `step` + 2 to `step`. */
static void migrate_column(const Shot* shot, const float* smooth, float source, int step, int x, float* image) {
  const Survey* survey = shot->survey;
  float *const *wave = shot->fields, *const *heard = shot->fields + 2;
  const int in_window = x - survey->sponge, to = step % 2, from = (step + 1) % 2;
  step_column(shot, heard[to], heard[from], x);
  if (in_window < 0 || in_window >= shot->window.columns) {
    return;
  }
  step_back(shot, wave[to], wave[from], step, in_window);
  if (!is_whole(shot, in_window)) {
    add_source(shot, wave[to], in_window, source);
  }
  const size_t receiver = (size_t)(shot->window.first + in_window) * (size_t)survey->nz + (size_t)survey->row;
  play_record(shot, heard[to], smooth[receiver], step, in_window);
  if (step % kImageEvery == 0) {
    add_image(shot, inside(shot, wave[to], in_window), inside(shot, heard[to], in_window), in_window, image);
  }
}

static void migrate(const Shot* shot, const float* smooth, const float* wavelet, float* image) {
  for (int step = shot->survey->steps - 2; step >= 0; --step) {
#pragma omp for schedule(static)
    for (int x = 0; x < shot->columns; ++x) {
      migrate_column(shot, smooth, wavelet[step + 1], step, x, image);
    }
  }
}

/* The whole -------------------------------------------------------------------------------------------------------- */

/* The wave at step 0 is in field 0. What is not a number is passed on: it is no silence. */
static double rest_of(const Shot* shot, const float* image) {
  const int nz = shot->survey->nz;
  const size_t points = (size_t)shot->window.columns * (size_t)nz;
  double left = 0, light = 0;
  for (int x = 0; x < shot->window.columns; ++x) {
    const float* column = inside(shot, shot->fields[0], x);
    for (int z = 0; z < nz; ++z) {
      left += (double)column[z] * column[z];
    }
  }
  for (size_t i = 0; i < points; ++i) {
    light += image[points + i];
  }
  return light == 0 ? (left == 0 ? 0 : INFINITY) : sqrt(left / light * (shot->survey->steps / kImageEvery));
}

void shot_migrate(const Survey* survey, const float* truth, const float* smooth, const float* wavelet, int number,
                  int threads, float* image, Outcome* outcome) {
  Shot shot;
  float* block = make(&shot, survey, number);
  outcome->failed = block == NULL;
  outcome->threads = 0;
  outcome->rest = 0;
  if (!block) {
    return;
  }
  memset(image, 0, 2 * (size_t)shot.window.columns * (size_t)survey->nz * sizeof(float));
  memset(shot.records, 0, (size_t)shot.window.columns * sizeof(float));
  memset(shot.borders, 0, survey_border(survey, &shot.window) * sizeof(float));
  fill_damping(&shot);
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    outcome->threads = omp_get_num_threads();
    silence(&shot, 0, kFields);
    fill_factors(&shot, truth);
    model_records(&shot, wavelet);
    silence(&shot, 0, 2);
    fill_factors(&shot, smooth);
    model_source(&shot, wavelet);
    migrate(&shot, smooth, wavelet, image);
  }
  outcome->rest = rest_of(&shot, image);
  free(block);
}

#pragma omp end declare target
