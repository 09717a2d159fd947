/* SPDX-License-Identifier: Apache-2.0
 *
 * Many tasks, threads and sizes at once: every pair of ranks exchanges messages of pseudo-random length in both
 * directions, in a different way each (blocking calls of all kinds, in tied and untied tasks), and every byte is
 * checked.
 *
 * Usage: stress TASKS SEED
 */
#include <string.h>

#include "support.h"

enum { kMaxBytes = 40000, kWays = 6 };

static unsigned int seed;

static unsigned int mix(unsigned int a, unsigned int b) {
  unsigned int x = seed ^ (a * 2654435761u) ^ (b * 40503u + 977u);
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  return x;
}

static int length_of(int task, int sender) {
  const unsigned int x = mix((unsigned int)task, (unsigned int)sender);
  return (int)(x % 8 == 0 ? x / 8 % kMaxBytes : x / 8 % 64);
}

static void fill(unsigned char* data, int task, int sender) {
  const int bytes = length_of(task, sender);
  for (int i = 0; i < bytes; ++i) data[i] = (unsigned char)(i + task + 3 * sender);
}

static void verify(const unsigned char* data, int task, int sender, MPI_Status* status) {
  int bytes = -1;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  expect(bytes == length_of(task, sender) && status->MPI_SOURCE == sender && status->MPI_TAG == task, "status");
  for (int i = 0; i < bytes; ++i) expect(data[i] == (unsigned char)(i + task + 3 * sender), "content");
}

static void exchange(int task, int peer) {
  unsigned char* out = malloc(kMaxBytes);
  unsigned char* in = malloc(kMaxBytes);
  const int bytes = length_of(task, world_rank);
  MPI_Status status[2];
  MPI_Request requests[2];
  int index = 0;
  fill(out, task, world_rank);
  switch (task % kWays) {
    case 0: /* one direction each, in the order of the ranks */
      if (world_rank > peer) MPI_Send(out, bytes, MPI_BYTE, peer, task, MPI_COMM_WORLD);
      MPI_Recv(in, kMaxBytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &status[0]);
      if (world_rank < peer) MPI_Ssend(out, bytes, MPI_BYTE, peer, task, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Sendrecv(out, bytes, MPI_BYTE, peer, task, in, kMaxBytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &status[0]);
      break;
    case 2:
      MPI_Irecv(in, kMaxBytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &requests[0]);
      MPI_Send(out, bytes, MPI_BYTE, peer, task, MPI_COMM_WORLD);
      MPI_Wait(&requests[0], &status[0]);
      break;
    case 3:
      MPI_Irecv(in, kMaxBytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &requests[0]);
      MPI_Issend(out, bytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, status);
      break;
    case 4:
      MPI_Irecv(in, kMaxBytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, bytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitany(2, requests, &index, &status[1]);
      if (index == 0) status[0] = status[1];
      MPI_Wait(&requests[1 - index], index == 0 ? &status[1] : &status[0]);
      break;
    default:
      MPI_Isend(out, bytes, MPI_BYTE, peer, task, MPI_COMM_WORLD, &requests[0]);
      MPI_Probe(peer, task, MPI_COMM_WORLD, &status[0]);
      MPI_Get_count(&status[0], MPI_BYTE, &index);
      MPI_Recv(in, index, MPI_BYTE, peer, task, MPI_COMM_WORLD, &status[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
  }
  verify(in, task, peer, &status[0]);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 3);
  expect(argc == 3, "usage: stress TASKS SEED");
  const int tasks = atoi(argv[1]);
  seed = (unsigned int)atoi(argv[2]);
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; ++i) {
    for (int peer = 0; peer < world_size; ++peer) {
      if (peer == world_rank) continue;
      if (i % 2 == 0) {
#pragma omp task firstprivate(i, peer)
        {
          exchange(i, peer);
#pragma omp atomic
          ++done;
        }
      } else {
#pragma omp task untied firstprivate(i, peer)
        {
          exchange(i, peer);
#pragma omp atomic
          ++done;
        }
      }
    }
  }
  expect(done == tasks * (world_size - 1), "every task ran");
  return finish();
}
