/* SPDX-License-Identifier: Apache-2.0
 *
 * How many bytes this process has sent by the TCP connections that it has open.
 */
#ifndef SENT_BY_TCP_H
#define SENT_BY_TCP_H

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static inline unsigned long long sent_by_tcp(void) {
  unsigned long long sum = 0;
  DIR* files = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(files)) != NULL;) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(atoi(entry->d_name), IPPROTO_TCP, TCP_INFO, &info, &length) == 0) sum += info.tcpi_bytes_sent;
  }
  closedir(files);
  return sum;
}

#endif
