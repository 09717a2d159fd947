/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of libmarline-mpi to the user, on stderr, one line each: what failed, the value, what to do. Any thread; one
 * write per line, so that lines of several ranks do not mix.
 */
#ifndef MARLINE_MPI_REPORT_H
#define MARLINE_MPI_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Reports why the process cannot go on, and ends it with status 1, without running exit handlers (MPI's may block). */
void report_fatal(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Reports the same line, for callers that end the process in another way. */
void report_error(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The process goes on, but does less than the user may expect. */
void report_warning(const char* format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif
