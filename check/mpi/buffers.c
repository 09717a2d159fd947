/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a type's element are found out by MPI itself: an element of ones is unpacked over zeros. So each type
 * that MPI knows is served, without reading how it was made. What was found is kept for as long as the type lives.
 */
#include "mpi/buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses/operations.h"
#include "lock.h"

enum { kBuckets = 256 };

typedef struct Piece {
  ptrdiff_t offset;
  size_t size;
} Piece;

/* Never freed, as another thread may use it. As many as the program commits types. */
typedef struct Layout {
  MPI_Datatype type;
  bool is_stale;
  ptrdiff_t extent;
  size_t count;
  Piece* pieces; /* null: one that is as long as the extent, from 0 on */
  struct Layout* next;
} Layout;

static Layout* layouts[kBuckets];
static Lock lock;

static Layout** bucket_of(MPI_Datatype type) {
  uint64_t bits = 0;
  memcpy(&bits, &type, sizeof type);
  return &layouts[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

static void* allocated(size_t size) {
  void* block = calloc(1, size > 0 ? size : 1);
  if (block != NULL) return block;
  fprintf(stderr, "marline: check: no memory for %zu bytes, to find what a type of MPI accesses\n", size);
  _Exit(EXIT_FAILURE);
}

static void add_piece(Layout* layout, ptrdiff_t offset, size_t size) {
  if ((layout->count & (layout->count - 1)) == 0) { /* its room is the next power of two */
    Piece* more = allocated((layout->count > 0 ? layout->count * 2 : 1) * sizeof *more);
    if (layout->count > 0) memcpy(more, layout->pieces, layout->count * sizeof *more);
    free(layout->pieces);
    layout->pieces = more;
  }
  layout->pieces[layout->count++] = (Piece){offset, size};
}

static void find_pieces(Layout* layout, MPI_Aint low, size_t true_extent) {
  int packed_size = 0, position = 0;
  mpi()->Pack_size(1, layout->type, MPI_COMM_SELF, &packed_size);
  unsigned char *element = allocated(true_extent), *packed = allocated((size_t)packed_size);
  memset(element, 0xff, true_extent);
  mpi()->Pack(element - low, 1, layout->type, packed, packed_size, &position, MPI_COMM_SELF);
  memset(element, 0, true_extent);
  position = 0;
  mpi()->Unpack(packed, packed_size, &position, element - low, 1, layout->type, MPI_COMM_SELF);
  for (size_t begin = 0, end; begin < true_extent; begin = end) {
    for (end = begin + 1; end < true_extent && (element[end] != 0) == (element[begin] != 0);) ++end;
    if (element[begin] != 0) add_piece(layout, low + (ptrdiff_t)begin, end - begin);
  }
  free(packed);
  free(element);
}

static Layout* new_layout(MPI_Datatype type) {
  Layout* layout = allocated(sizeof *layout);
  MPI_Aint bound = 0, extent = 0, low = 0, true_extent = 0;
  int size = 0;
  mpi()->Type_get_extent(type, &bound, &extent);
  mpi()->Type_get_true_extent(type, &low, &true_extent);
  mpi()->Type_size(type, &size);
  layout->type = type;
  layout->extent = extent;
  if (!(low == 0 && size == extent && extent == true_extent)) find_pieces(layout, low, (size_t)true_extent);
  return layout;
}

static const Layout* layout_of(MPI_Datatype type) {
  Layout** bucket = bucket_of(type);
  lock_take(&lock);
  Layout* found = *bucket;
  while (found != NULL && (found->type != type || found->is_stale)) found = found->next;
  lock_give(&lock);
  if (found != NULL) return found;
  found = new_layout(type); /* two threads may find out the same */
  lock_take(&lock);
  found->next = *bucket;
  *bucket = found;
  lock_give(&lock);
  return found;
}

void buffers_forget(MPI_Datatype datatype) {
  lock_take(&lock);
  for (Layout* layout = *bucket_of(datatype); layout != NULL; layout = layout->next) {
    if (layout->type == datatype) layout->is_stale = true;
  }
  lock_give(&lock);
}

Operation operation_begin(Way way, const char* name, const void* code) {
  Operation operation = {.way = way, .name = name, .code = code};
  if (way == kStarted) operation.number = marline_accesses_start(name, code);
  return operation;
}

static void keep(Operation* operation, Part part) {
  if (operation->count == operation->room) {
    operation->room = operation->room > 0 ? operation->room * 2 : 4;
    Part* more = allocated(operation->room * sizeof *more);
    if (operation->count > 0) memcpy(more, operation->parts, operation->count * sizeof *more);
    free(operation->parts);
    operation->parts = more;
  }
  operation->parts[operation->count++] = part;
}

static void add(Operation* operation, uintptr_t address, size_t size, bool is_write) {
  if (operation->way == kKept)
    keep(operation, (Part){address, size, is_write});
  else if (operation->way == kCurrentTask || operation->number != 0)
    marline_accesses_note(operation->number, address, size, is_write, operation->code);
}

static void access_elements(Operation* operation, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                            bool is_write) {
  if (count <= 0 || datatype == MPI_DATATYPE_NULL) return;
  const Layout* layout = layout_of(datatype);
  if (layout->pieces == NULL) {
    if (layout->extent > 0) add(operation, (uintptr_t)buffer, (size_t)(count * layout->extent), is_write);
    return;
  }
  for (MPI_Count i = 0; i < count; ++i) {
    const uintptr_t element = (uintptr_t)buffer + (uintptr_t)(i * layout->extent);
    for (size_t k = 0; k < layout->count; ++k)
      add(operation, element + (uintptr_t)layout->pieces[k].offset, layout->pieces[k].size, is_write);
  }
}

void reads(Operation* operation, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  access_elements(operation, buffer, count, datatype, false);
}

void writes(Operation* operation, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  access_elements(operation, buffer, count, datatype, true);
}

const void* moved(const void* buffer, MPI_Aint extents, MPI_Datatype datatype) {
  return (const char*)buffer + extents * layout_of(datatype)->extent;
}

static bool has_two_groups(MPI_Comm comm) {
  int answer = 0;
  mpi()->Comm_test_inter(comm, &answer);
  return answer != 0;
}

int processes(MPI_Comm comm) {
  int count = 0;
  if (has_two_groups(comm))
    mpi()->Comm_remote_size(comm, &count);
  else
    mpi()->Comm_size(comm, &count);
  return count;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  mpi()->Comm_rank(comm, &rank);
  return rank;
}

bool is_root(int root, MPI_Comm comm) { return has_two_groups(comm) ? root == MPI_ROOT : root == rank_in(comm); }

bool is_apart(int root, MPI_Comm comm) { return has_two_groups(comm) && (root == MPI_ROOT || root == MPI_PROC_NULL); }

bool is_leaf(int root, MPI_Comm comm) { return !is_root(root, comm) && !is_apart(root, comm); }
