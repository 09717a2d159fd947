/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs this same program again as a child, with other arguments and environment, and keeps what it wrote to stdout and
 * stderr: for messages, and for programs that are meant to end badly.
 */
#ifndef PROGRAMS_CHILD_H
#define PROGRAMS_CHILD_H

#include "check.h"
#include <sys/wait.h>

typedef struct {
  int exited, status, signal; /* exited: by exit(status); else ended by the signal */
  char output[1 << 16];
} Child;

/* variables: "NAME=VALUE" strings, then NULL. */
static inline void run_child(Child* child, const char* argument, char* const variables[]) {
  int pipe_ends[2];
  CHECK_EQ(pipe(pipe_ends), 0);
  fflush(NULL);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    for (int i = 0; variables[i]; i++) putenv(variables[i]);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    execl("/proc/self/exe", "child", argument, (char*)NULL);
    _exit(127);
  }
  close(pipe_ends[1]);
  size_t length = 0;
  for (ssize_t got; (got = read(pipe_ends[0], child->output + length, sizeof child->output - 1 - length)) > 0;)
    length += (size_t)got;
  child->output[length] = '\0';
  close(pipe_ends[0]);
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  child->exited = WIFEXITED(status);
  child->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  child->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Whether some line of the output contains every one of the words (ended by NULL). */
static inline int has_line_with(const Child* child, const char* const words[]) {
  for (const char* line = child->output; *line;) {
    size_t length = strcspn(line, "\n");
    int all = 1;
    for (int w = 0; words[w]; w++) all = all && memmem(line, length, words[w], strlen(words[w])) != NULL;
    if (all) return 1;
    line += length + (line[length] == '\n');
  }
  return 0;
}

#define CHECK_LINE(child, ...)                                                                               \
  do {                                                                                                       \
    const char* const check_words_[] = {__VA_ARGS__, NULL};                                                  \
    if (!has_line_with(child, check_words_))                                                                 \
      check_failed(__FILE__, __LINE__, "no line with %s in the output:\n%s", #__VA_ARGS__, (child)->output); \
  } while (0)

/* The program, run again with this argument, ends with one line of Marline's, which has these words. */
static inline void expect_fatal(const char* argument, const char* words) {
  static Child child;
  char* variables[] = {NULL};
  run_child(&child, argument, variables);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "marline: fatal: ", words);
  char* end = strchr(child.output, '\n');
  CHECK(end != NULL && end[1] == '\0');
}

#endif
