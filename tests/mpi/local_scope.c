/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI that is loaded under RTLD_LOCAL, as by an interpreter with an extension module that is linked with MPI: the name
 * MPI_Init then leads to the preloaded libmarline-mpi, while the MPI library is in no scope that it can search by name.
 *
 * Usage: local_scope PLUGIN (mpi_only.c as a shared library, with its main named plugin_main)
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "FAILED: no plugin: %s\n", dlerror());
    return 1;
  }
  int (*plugin_main)(int, char**) = (int (*)(int, char**))dlsym(plugin, "plugin_main");
  return plugin_main(argc, argv);
}
