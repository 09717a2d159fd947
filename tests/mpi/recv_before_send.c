/* SPDX-License-Identifier: Apache-2.0
 *
 * MESSAGES tasks with a blocking receive are created before MESSAGES tasks with a blocking send of BYTES, on two ranks
 * of one thread each. If tasks hold their thread in MPI_Recv, the runtime never gets to a send.
 *
 * Usage: recv_before_send MESSAGES BYTES
 */
#include <string.h>

#include "support.h"

static unsigned char pattern(int message, int sender, int position) {
  return (unsigned char)(message * 31 + sender * 7 + position);
}

static void receive_one(unsigned char* buffer, int message, int bytes, int peer) {
  MPI_Status status;
  MPI_Recv(buffer, bytes, MPI_BYTE, peer, message, MPI_COMM_WORLD, &status);
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect(count == bytes && status.MPI_SOURCE == peer && status.MPI_TAG == message, "status of the receive");
  for (int i = 0; i < bytes; ++i) expect(buffer[i] == pattern(message, peer, i), "content of the message");
}

static void send_one(unsigned char* buffer, int message, int bytes, int peer) {
  for (int i = 0; i < bytes; ++i) buffer[i] = pattern(message, world_rank, i);
  MPI_Send(buffer, bytes, MPI_BYTE, peer, message, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 3, "usage: recv_before_send MESSAGES BYTES");
  const int messages = atoi(argv[1]);
  const int bytes = atoi(argv[2]);
  const int peer = 1 - world_rank;
  unsigned char* received = malloc((size_t)messages * (size_t)bytes);
  unsigned char* sent = malloc((size_t)messages * (size_t)bytes);
  int receives = 0;
  int sends = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
  {
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i)
      {
        receive_one(received + (size_t)i * (size_t)bytes, i, bytes, peer);
#pragma omp atomic
        ++receives;
      }
    }
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i)
      {
        send_one(sent + (size_t)i * (size_t)bytes, i, bytes, peer);
#pragma omp atomic
        ++sends;
      }
    }
  }
  expect(receives == messages && sends == messages, "every task ran");
  free(received);
  free(sent);
  return finish();
}
