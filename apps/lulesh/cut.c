/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts nodes, elements and regions into parts for threads or blocks.
 */
#include "cut.h"

#include <stdlib.h>

static Range part_of(int32_t begin, int32_t end, int number, int count) {
  int64_t length = end - begin;
  return (Range){begin + (int32_t)(length * number / count), begin + (int32_t)(length * (number + 1) / count)};
}

/* Share i begins at floor(whole i / shares): the last i with a begin that is not after `at`. */
int cut_block_of(const Cut* cut, int32_t at) { return (int)((((int64_t)at + 1) * cut->shares - 1) / cut->whole); }

/* The first place of an ascending list with an entry that is not below `value`. */
static int32_t lower_bound(const int32_t* list, int32_t begin, int32_t end, int32_t value) {
  while (begin < end) {
    int32_t middle = begin + (end - begin) / 2;
    if (list[middle] < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/* The part of an ascending list with values in a range. */
static Range within(const int32_t* list, int32_t begin, int32_t end, Range values) {
  return (Range){lower_bound(list, begin, end, values.begin), lower_bound(list, begin, end, values.end)};
}

static void share_nodes(Share* share, const Mesh* mesh, int number, int count) {
  share->nodes = part_of(0, mesh->nodes, number, count);
  for (int axis = 0; axis < 3; ++axis) {
    share->plane[axis] = within(mesh->symmetry[axis], 0, mesh->symmetric[axis], share->nodes);
  }
}

static bool create(Cut* cut, int32_t whole, int shares) {
  *cut = (Cut){.shares = shares < whole ? shares : whole, .whole = whole};
  cut->share = calloc((size_t)cut->shares, sizeof *cut->share);
  return cut->share != NULL;
}

bool cut_nodes(Cut* cut, const Mesh* mesh, int shares) {
  if (!create(cut, mesh->nodes, shares)) {
    return false;
  }
  for (int i = 0; i < cut->shares; ++i) {
    share_nodes(&cut->share[i], mesh, i, cut->shares);
  }
  return true;
}

/* Non-empty parts only: there are no more than elements, and in each share no more than regions. */
bool cut_elements(Cut* cut, const Mesh* mesh, const Regions* regions, int shares) {
  if (!create(cut, mesh->elements, shares)) {
    return false;
  }
  int64_t most = (int64_t)regions->count * cut->shares;
  most = most < mesh->elements ? most : mesh->elements;
  cut->part = malloc((size_t)most * sizeof *cut->part);
  Part* next = cut->part;
  for (int i = 0; i < cut->shares && cut->part; ++i) {
    Share* share = &cut->share[i];
    share->elements = part_of(0, mesh->elements, i, cut->shares);
    share->part = next;
    for (int region = 0; region < regions->count; ++region) {
      Range places = within(regions->element, regions->begin[region], regions->begin[region + 1], share->elements);
      if (places.begin < places.end) {
        *next++ = (Part){places, regions->times[region]};
      }
    }
    share->parts = (int)(next - share->part);
  }
  return cut->part != NULL;
}

bool cut_for_threads(Cut* cut, const Mesh* mesh, const Regions* regions, int shares) {
  *cut = (Cut){.shares = shares};
  cut->share = calloc((size_t)shares, sizeof *cut->share);
  cut->part = malloc((size_t)shares * (size_t)regions->count * sizeof *cut->part);
  for (int i = 0; i < shares && cut->share && cut->part; ++i) {
    Share* share = &cut->share[i];
    Part* part = cut->part + (size_t)i * (size_t)regions->count;
    share_nodes(share, mesh, i, shares);
    share->elements = part_of(0, mesh->elements, i, shares);
    for (int region = 0; region < regions->count; ++region) {
      Range places = part_of(regions->begin[region], regions->begin[region + 1], i, shares);
      part[region] = (Part){places, regions->times[region]};
    }
    share->part = part;
    share->parts = regions->count;
  }
  return cut->share && cut->part;
}

void cut_destroy(Cut* cut) {
  free(cut->share);
  free(cut->part);
  *cut = (Cut){0};
}
