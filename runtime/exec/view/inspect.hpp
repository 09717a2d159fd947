// SPDX-License-Identifier: Apache-2.0
//
// What `marline ps` reads from a process: docs/design/inspection.md. A separate thread waits at a socket of the process
// (exec/view/inspect_server.cpp) and answers each request with one JSON document (exec/view/inspect.cpp).
#pragma once

#include <cstddef>

namespace marline {

class ReportStream;
struct InspectRequest;

using DescribeWrite = void (*)(void* sink, const char* text, size_t length);
using Describe = void (*)(void* arg, DescribeWrite write, void* sink);

// marline_describe_register. False: the table is full.
bool describe_register(const char* name, Describe describe, void* arg);

// Starts the server unless it is there, or MARLINE_INSPECT says no. Any thread; cheap when it is there. Not called for
// a program that has one thread and waits for no event: libc leaves out its locks in such a program, and a second
// thread would make it pay for them in every putc() and malloc().
void inspect_start();

// No thread of the program's is left that the runtime knows: ends the server, which must not keep the process alive.
// The next inspect_start() starts another one.
void inspect_stop();

// marline_describe_relay: opens the port, whose number it returns. The first caller's secret counts; 0 for others.
int inspect_relay(const char* secret);

// Ends the relay's thread, which must not keep the process alive. inspect_stop() calls it.
void inspect_relay_stop();

// In a forked child, which does not have the relay's thread: closes the port, which is the parent's.
void inspect_relay_after_fork();

// The answer to one request. The server's thread.
void inspect_describe(ReportStream& out, const InspectRequest& request);

}  // namespace marline
