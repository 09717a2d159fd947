/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocates the arrays of a process and sets the state at time 0.
 */
#include "fields.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "constants.h"
#include "geometry.h"

/* Doubles of a cache line, at which arrays begin; room for the list of all arrays, of which there are 73. */
enum { kLine = 8, kMostArrays = 128, kMaterialArrays = 15 };

/* One array: where its pointer is, and its length. */
typedef struct {
  double** at;
  int64_t count;
} Array;

typedef struct {
  Array array[kMostArrays];
  int count;
  int temporary; /* the first of the arrays that last from loop to loop only */
} ArrayList;

static void add(ArrayList* list, double** at, int64_t count) { list->array[list->count++] = (Array){at, count}; }

static void add_vector(ArrayList* list, double** at, int64_t count) {
  for (int a = 0; a < 3; ++a) {
    add(list, &at[a], count);
  }
}

static void add_material(ArrayList* list, Material* m, int64_t count) {
  double** arrays[kMaterialArrays] = {
      &m->energy,       &m->pressure,      &m->viscosity,     &m->linear,     &m->quadratic,
      &m->change,       &m->compression,   &m->work,          &m->new_energy, &m->half_compression,
      &m->new_pressure, &m->new_viscosity, &m->half_pressure, &m->bulk,       &m->slope};
  for (int i = 0; i < kMaterialArrays; ++i) {
    add(list, arrays[i], count);
  }
}

static ArrayList all_arrays(Fields* f, const Mesh* mesh) {
  ArrayList list = {.count = 0};
  int64_t nodes = mesh->nodes, elements = mesh->elements;
  double** by_element[] = {&f->energy,        &f->pressure,    &f->viscosity,    &f->linear,      &f->quadratic,
                           &f->volume,        &f->sound,       &f->first_volume, &f->mass,        &f->new_volume,
                           &f->volume_change, &f->volume_rate, &f->length,       &f->determinant, &f->clamped_volume};
  for (size_t i = 0; i < sizeof by_element / sizeof *by_element; ++i) {
    add(&list, by_element[i], elements);
  }
  add(&list, &f->node_mass, nodes);
  double** of_nodes[] = {f->position, f->velocity, f->acceleration, f->force};
  for (size_t i = 0; i < sizeof of_nodes / sizeof *of_nodes; ++i) {
    add_vector(&list, of_nodes[i], nodes);
  }
  list.temporary = list.count;
  add_vector(&list, f->stress, elements);
  add_vector(&list, f->strain, elements);
  add_vector(&list, f->spacing, elements);
  add_vector(&list, f->gradient, elements + mesh->ghosts);
  add_vector(&list, f->corner_force, kCorners * elements);
  add_vector(&list, f->hourglass_force, kCorners * elements);
  add_vector(&list, f->corner_derivative, kCorners * elements);
  add_vector(&list, f->corner_position, kCorners * elements);
  add_material(&list, &f->material, elements);
  return list;
}

static int64_t padded(int64_t count) { return (count + kLine - 1) / kLine * kLine; }

static int64_t sum_of(const ArrayList* list) {
  int64_t sum = 0;
  for (int i = 0; i < list->count; ++i) {
    sum += padded(list->array[i].count);
  }
  return sum;
}

double fields_bytes(const Mesh* mesh) {
  Fields fields;
  ArrayList list = all_arrays(&fields, mesh);
  return (double)sum_of(&list) * sizeof(double);
}

static void touch(double* array, int64_t count) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    array[i] = 0;
  }
}

static void place_nodes(Fields* fields, const Mesh* mesh) {
  int m = mesh->edge + 1;
  const Place* place = &mesh->place;
#pragma omp parallel for schedule(static)
  for (int32_t node = 0; node < mesh->nodes; ++node) {
    fields->position[0][node] = mesh_coordinate(mesh, node % m, place->column);
    fields->position[1][node] = mesh_coordinate(mesh, node / m % m, place->row);
    fields->position[2][node] = mesh_coordinate(mesh, node / (m * m), place->plane);
  }
}

static void weigh(Fields* fields, const Mesh* mesh) {
#pragma omp parallel for schedule(static)
  for (int32_t element = 0; element < mesh->elements; ++element) {
    Corners at;
    gather(mesh->node[element], fields->position, at);
    double volume = hexahedron_volume(at);
    fields->first_volume[element] = fields->mass[element] = volume * REFERENCE_DENSITY;
    fields->volume[element] = 1;
  }
#pragma omp parallel for schedule(static)
  for (int32_t node = 0; node < mesh->nodes; ++node) {
    for (int64_t at = mesh->first_corner[node]; at < mesh->first_corner[node + 1]; ++at) {
      fields->node_mass[node] += fields->first_volume[mesh->corner[at] / kCorners] / kCorners;
    }
  }
}

static void deposit(Fields* fields, const Mesh* mesh) {
  double scale = (double)(mesh->edge * mesh->place.per_edge) / 45.0;
  double energy = ENERGY_AT_45 * scale * scale * scale;
  if (mesh->place.rank == 0) {
    fields->energy[0] = energy;
  }
  fields->step = 0.5 * cbrt(fields->first_volume[0]) / sqrt(2.0 * energy);
  fields->courant = fields->hydro = NO_LIMIT;
}

bool fields_create(Fields* fields, const Mesh* mesh, const Regions* regions) {
  *fields = (Fields){.mesh = mesh, .regions = regions};
  ArrayList list = all_arrays(fields, mesh);
  fields->bytes = (size_t)sum_of(&list) * sizeof(double);
  fields->memory = aligned_alloc(kLine * sizeof(double), fields->bytes);
  if (!fields->memory) {
    return false;
  }
  double* next = fields->memory;
  for (int i = 0; i < list.count; ++i) {
    *list.array[i].at = next;
    touch(next, list.array[i].count);
    next += padded(list.array[i].count);
  }
  fields->temporary = *list.array[list.temporary].at;
  place_nodes(fields, mesh);
  weigh(fields, mesh);
  deposit(fields, mesh);
  return true;
}

void fields_allocate_anew(Fields* fields) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = ((uintptr_t)fields->temporary + page - 1) / page * page;
  uintptr_t end = ((uintptr_t)fields->memory + fields->bytes) / page * page;
  if (begin < end) {
    madvise((void*)begin, end - begin, MADV_DONTNEED);
  }
}

void fields_destroy(Fields* fields) { free(fields->memory); }

/* Relaxed: the loop's end, a barrier or a dependence, orders it before the thread that acts on it. */
void fields_fail(Fields* fields, int failure) { __atomic_store_n(&fields->failure, failure, __ATOMIC_RELAXED); }

int fields_failure(const Fields* fields) { return __atomic_load_n(&fields->failure, __ATOMIC_RELAXED); }

/* Relaxed, as above: shares that lower it at the same time agree on the least by compare and exchange alone. */
void fields_lower(double* limit, double value) {
  double seen;
  __atomic_load(limit, &seen, __ATOMIC_RELAXED);
  while (value < seen && !__atomic_compare_exchange(limit, &seen, &value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
