/* SPDX-License-Identifier: Apache-2.0
 *
 * See output.h. No state.
 */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { kHead = 128 }; /* bytes, a multiple of 64 (numpy.lib.format) */

static void write_head(FILE* file, const Survey* survey) {
  char head[kHead];
  memset(head, ' ', sizeof head);
  memcpy(head, "\x93NUMPY\x01\x00", 8);
  head[8] = kHead - 10; /* of what follows, in two bytes, the lower one first */
  head[9] = 0;
  const int length =
      snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (3, %d, %d)}",
               __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<f4" : ">f4", survey->nx, survey->nz);
  head[10 + length] = ' ';
  head[kHead - 1] = '\n';
  fwrite(head, 1, sizeof head, file);
}

FILE* output_open(const char* path, Failure* failure) {
  FILE* file = fopen(path, "wb");
  if (!file) {
    failure_note(failure, kExitInput, "-o: cannot open '%s': %s", path, strerror(errno));
  }
  return file;
}

void output_write(FILE* file, const char* path, const Earth* earth, const Stack* stack, Failure* failure) {
  const size_t points = (size_t)earth->survey.nx * (size_t)earth->survey.nz;
  write_head(file, &earth->survey);
  fwrite(earth->speeds, sizeof(float), points, file);
  fwrite(earth->slow, sizeof(float), points, file);
  fwrite(stack->image, sizeof(float), points, file);
  const int failed = ferror(file);
  if (fclose(file) != 0 || failed) {
    failure_note(failure, kExitInput, "-o: cannot write '%s': %s", path, strerror(errno));
  }
}
