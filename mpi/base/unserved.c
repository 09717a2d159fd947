/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the relocations of the loaded objects: each function that an object calls in another one is the symbol of one
 * (System V gABI, "Relocation"). References that are weak do not count: a library such as mpi4py's refers to all
 * functions that there may be.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "base/unserved.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pmpi/library.h"
#include "base/later_tool.h"
#include "base/mpi_library.h"
#include "base/report.h"

enum { kMostNamed = 4, kRoom = 256 };

typedef struct Unserved {
  ObjectRange own;
  ObjectRange library; /* MPI's */
  const char* names[kMostNamed];
  int count; /* of different names, but not of more than kMostNamed */
} Unserved;

/* Functions that wait for nothing and are left to the MPI library, by the beginnings and ends of their names. */
static const char* const kLocalBeginnings[] = {
    "MPI_Abi_",        "MPI_Address",       "MPI_Aint_",    "MPI_Comm_attach_buffer",
    "MPI_Errhandler_", "MPI_Get_",          "MPI_Group",    "MPI_Info_",
    "MPI_Pcontrol",    "MPI_Remove_error_", "MPI_Session_", "MPI_Status_",
    "MPI_T_",          "MPI_Type_",         "MPI_Wti",      "MPIX_Info_",
    "MPIX_Query_",
};
static const char* const kLocalEnds[] = {"_c2f", "_f2c", "_toint", "_fromint", "_FN"};

static bool ends_with(const char* name, const char* end) {
  const size_t length = strlen(name), part = strlen(end);
  return length >= part && strcmp(name + length - part, end) == 0;
}

static bool is_local(const char* name) {
  for (size_t i = 0; i < sizeof kLocalBeginnings / sizeof kLocalBeginnings[0]; ++i)
    if (strncmp(name, kLocalBeginnings[i], strlen(kLocalBeginnings[i])) == 0) return true;
  for (size_t i = 0; i < sizeof kLocalEnds / sizeof kLocalEnds[0]; ++i)
    if (ends_with(name, kLocalEnds[i])) return true;
  return false;
}

static bool is_served(const char* name) {
  for (size_t i = 0; i < pmpi_table_size; ++i)
    if (strcmp(pmpi_table[i].name + 1, name) == 0) return true; /* without the P */
  return false;
}

/* The MPI library's own, and a function, not an object such as MPI_F_STATUS_IGNORE. */
static bool is_function_of(const ObjectRange* library, const char* name) {
  Dl_info info;
  const ElfW(Sym)* symbol = NULL;
  const void* address = dlsym(pmpi_handle(), name);
  if (address == NULL || !object_holds(library, address)) return false;
  return dladdr1(address, &info, (void**)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
         ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static void consider(Unserved* found, const char* name) {
  if (found->count == kMostNamed) return;
  const char* plain = name[0] == 'P' ? name + 1 : name;
  if (strncmp(plain, "MPI_", 4) != 0 && strncmp(plain, "MPIX_", 5) != 0) return;
  if (is_local(plain) || is_served(plain) || !is_function_of(&found->library, plain)) return;
  for (int i = 0; i < found->count; ++i)
    if (strcmp(found->names[i], plain) == 0) return;
  found->names[found->count++] = plain;
}

/* What an object's dynamic section says of its relocations. */
typedef struct Relocations {
  const ElfW(Sym) * symbols;
  const char* strings;
  const ElfW(Rela) * tables[2]; /* of calls, and of all others */
  size_t bytes[2];
} Relocations;

static Relocations relocations_of(const ElfW(Dyn) * entry) {
  Relocations found = {.symbols = NULL};
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: found.symbols = (const void*)entry->d_un.d_ptr; break;
      case DT_STRTAB: found.strings = (const void*)entry->d_un.d_ptr; break;
      case DT_JMPREL: found.tables[0] = (const void*)entry->d_un.d_ptr; break;
      case DT_PLTRELSZ: found.bytes[0] = entry->d_un.d_val; break;
      case DT_RELA: found.tables[1] = (const void*)entry->d_un.d_ptr; break;
      case DT_RELASZ: found.bytes[1] = entry->d_un.d_val; break;
      default: break;
    }
  }
  return found;
}

static void look_through(Unserved* unserved, const Relocations* object) {
  for (int table = 0; table < 2; ++table) {
    const size_t count = object->tables[table] != NULL ? object->bytes[table] / sizeof(ElfW(Rela)) : 0;
    for (size_t i = 0; i < count; ++i) {
      const ElfW(Sym)* symbol = &object->symbols[ELF64_R_SYM(object->tables[table][i].r_info)];
      if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL)
        consider(unserved, object->strings + symbol->st_name);
    }
  }
}

/* Libraries of MPI, for Fortran for example, refer to all functions that there are. */
static bool is_mpis(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != NULL ? slash + 1 : path;
  return strncmp(name, "libmpi", 6) == 0 || strncmp(name, "mca_", 4) == 0 || strncmp(name, "libmca_", 7) == 0;
}

/* Not the kernel's object, whose addresses the loader does not relocate. */
static int look_at_object(struct dl_phdr_info* info, size_t size, void* unserved) {
  (void)size;
  if (is_mpis(info->dlpi_name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_DYNAMIC) continue;
    const void* dynamic = (const void*)(info->dlpi_addr + header->p_vaddr);
    const Relocations object = relocations_of(dynamic);
    const bool is_kernels = (uintptr_t)object.symbols < info->dlpi_addr;
    if (!is_kernels && !object_holds(&((Unserved*)unserved)->own, dynamic)) look_through(unserved, &object);
  }
  return 0;
}

void unserved_report(void) {
  Unserved found = {.own = object_range((const void*)unserved_report),
                    .library = object_range(pmpi_function("PMPI_Get_library_version"))};
  dl_iterate_phdr(look_at_object, &found);
  if (found.count == 0) return;
  char names[kRoom] = "";
  for (int i = 0; i < found.count; ++i) {
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", found.names[i]);
  }
  report_warning(
      "the program may call %s%s, which this version of Marline does not know: a task that waits there holds "
      "its thread",
      names, found.count == kMostNamed ? ", ..." : "");
}
