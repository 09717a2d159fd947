/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets `marline ps` reach other nodes. A thread listens at a TCP port. A client that sends the job's secret is
 * connected with this process's local socket; only the user's own processes can read the secret, from the local
 * sockets. One client at a time, and only in jobs of several nodes.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "inspect/describe.h"

static int listener = -1;
static _Atomic bool stopped; /* by relay_stop, read by the thread */
static const char *expected;

static int open_door(void)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "marline/%d", (int)getpid());
  const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  const int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door >= 0 && connect(door, (struct sockaddr *)&address, bytes) == 0)
    return door;
  if (door >= 0)
    close(door);
  return -1;
}

static bool send_all(int to, const char *text, size_t length)
{
  while (length > 0) {
    const ssize_t sent = send(to, text, length, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    text += sent;
    length -= (size_t)sent;
  }
  return true;
}

/* The secret in front, compared in constant time. */
static bool knows_secret(int connection)
{
  char text[64];
  const size_t length = strlen(expected);
  if (recv(connection, text, length, MSG_WAITALL) != (ssize_t)length)
    return false;
  unsigned different = 0;
  for (size_t i = 0; i < length; ++i)
    different |= (unsigned)(text[i] ^ expected[i]);
  return different == 0;
}

static void serve(int connection)
{
  const struct timeval patience = {10, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  char text[4096];
  if (!knows_secret(connection))
    return;
  const ssize_t request = recv(connection, text, sizeof text, 0); /* one line, sent in one piece */
  const int door = request > 0 ? open_door() : -1;
  if (door < 0)
    return;
  ssize_t got = send_all(door, text, (size_t)request) ? 1 : 0;
  while (got > 0 && (got = recv(door, text, sizeof text, 0)) > 0) {
    if (!send_all(connection, text, (size_t)got))
      break;
  }
  close(door);
}

static void *relay_main(void *unused)
{
  (void)unused;
  pthread_setname_np(pthread_self(), "marline/relay");
  for (;;) {
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
      if (atomic_load(&stopped))
        break;
      usleep(100000); /* out of descriptors, or an aborted connection */
      continue;
    }
    serve(connection);
    close(connection);
  }
  return NULL;
}

void relay_stop(void)
{
  if (listener < 0)
    return;
  atomic_store(&stopped, true);
  shutdown(listener, SHUT_RDWR); /* ends accept4 */
}

int relay_start(const char *secret)
{
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
  struct sockaddr_in plain = {.sin_family = AF_INET};
  socklen_t bytes = sizeof address;
  pthread_t thread;
  expected = secret;
  listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0) { /* no IPv6 */
    if (listener >= 0)
      close(listener);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&plain, sizeof plain) != 0)
      return 0;
  }
  if (listen(listener, 8) != 0 || getsockname(listener, (struct sockaddr *)&address, &bytes) != 0 ||
      pthread_create(&thread, NULL, relay_main, NULL) != 0)
    return 0;
  pthread_detach(thread);
  return ntohs(address.sin6_port); /* where sockaddr_in has its port, too */
}
