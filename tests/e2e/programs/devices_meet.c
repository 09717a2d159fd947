/* SPDX-License-Identifier: Apache-2.0
 *
 * A region on each device that waits until the regions of all devices have begun. All regions see that only if the
 * devices work at the same time. Each leaves a file in the folder that is the only argument; after half a minute it
 * waits no longer. Prints how many saw all others. */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kMostDevices = 16, kRounds = 3000 };

#pragma omp declare target
static void path_of(char* path, size_t size, const char* folder, int device) {
  snprintf(path, size, "%s/%d", folder, device);
}

static int all_began(const char* folder, int devices) {
  int began = 0;
  for (int device = 0; device < devices; device++) {
    char path[512];
    path_of(path, sizeof path, folder, device);
    began += access(path, F_OK) == 0;
  }
  return began == devices;
}

static int meet(const char* folder, int device, int devices) {
  char path[512];
  path_of(path, sizeof path, folder, device);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  for (int round = 0; round < kRounds; round++) {
    if (all_began(folder, devices)) return 1;
    usleep(10000);
  }
  return 0;
}
#pragma omp end declare target

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : ".";
  const size_t length = strlen(folder) + 1;
  const int devices = omp_get_num_devices();
  int met[kMostDevices] = {0}, sum = 0;
  if (devices < 1 || devices > kMostDevices) return 2;
#pragma omp parallel
#pragma omp single
  for (int device = 0; device < devices; device++) {
    int* own = &met[device];
#pragma omp target nowait device(device) map(to : folder[0 : length]) map(from : own[0 : 1])
    own[0] = meet(folder, device, devices);
  }
  for (int device = 0; device < devices; device++) sum += met[device];
  printf("devices=%d met=%d\n", devices, sum);
  return 0;
}
