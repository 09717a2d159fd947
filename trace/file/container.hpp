// SPDX-License-Identifier: Apache-2.0
//
// The file that all recorded processes of a node share: DIR/node.HOST.mtr (record.hpp says what is in it). It consists
// of units of 64 KiB. A process that needs room reserves units by one atomic addition in the mapped head of the file,
// so processes never wait for one another, and a process that is killed leaves units that are empty or complete.
//
// Opened once, before there are streams; the functions may then be called by any thread.
#ifndef MARLINE_TRACE_CONTAINER_HPP
#define MARLINE_TRACE_CONTAINER_HPP

#include "file/file_names.hpp"
#include "file/record.hpp"

namespace marline::trace {

// The name of this node's file in the trace's folder: host name and boot id, so that no two nodes have the same one.
void container_name(char (&name)[kContainerNameBytes]);

// Opens the file, or makes it, and takes a number in it for this process. False, and errno: cannot.
bool open_container(const char* path);

// This process's number in the file, from 1.
uint32_t process_number();

// Reserves room at the end of the file: the offset of `units` units that no other thread or process uses. Their bytes
// are zero. They have no place on the disk yet.
u64 reserve_units(u64 units);

// Gives a part of the file its place on the disk, and maps it: a store into a hole of a full disk would raise SIGBUS.
// Null, and errno: cannot.
void* map_part(u64 offset, u64 bytes);

// Gives a part that will be written by write_part its place on the disk, if that can be done.
void prepare_part(u64 offset, u64 bytes);
// False, and errno: cannot.
bool write_part(u64 offset, const void* from, u64 bytes);

// Gives the disk space of a part back; reads of it give zeros from then on.
void drop_part(u64 offset, u64 bytes);

}  // namespace marline::trace

#endif
