/* SPDX-License-Identifier: Apache-2.0
 *
 * nvlink: links the GPU code of a program, by NVIDIA's library nvJitLink. The Python packages of CUDA have that library
 * but not NVIDIA's own command of this name, which Clang starts. It takes the options that Clang 19 gives and refuses
 * all others, so that none is dropped in silence. One thread; no state beyond one link.
 *
 *     nvlink [-o FILE] [-arch sm_NN] [-v] [-g] [-L FOLDER] FILE.cubin...
 */
#include <nvJitLink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxInputs = 4096, kMaxOptions = 8 };

struct Job {
  const char* output;
  const char* inputs[kMaxInputs];
  int input_count;
  char arch[32];
  const char* options[kMaxOptions];
  int option_count;
};

static void fail(const char* what, const char* value, const char* remedy) {
  fprintf(stderr, "nvlink: %s '%s': %s\n", what, value, remedy);
  exit(1);
}

static const char* value_of(int argc, char** argv, int* at) {
  if (*at + 1 >= argc) fail("no value after the option", argv[*at], "give one");
  return argv[++*at];
}

static void set_arch(struct Job* job, const char* value) {
  if (snprintf(job->arch, sizeof job->arch, "-arch=%s", value) >= (int)sizeof job->arch)
    fail("cannot link for the architecture", value, "give one like sm_90");
}

static void read_arguments(struct Job* job, int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const char* word = argv[i];
    if (strcmp(word, "-o") == 0) {
      job->output = value_of(argc, argv, &i);
    } else if (strcmp(word, "-arch") == 0) {
      set_arch(job, value_of(argc, argv, &i));
    } else if (strncmp(word, "-arch=", 6) == 0) {
      set_arch(job, word + 6);
    } else if (strcmp(word, "-v") == 0) {
      job->options[job->option_count++] = "-verbose";
    } else if (strcmp(word, "-g") == 0) {
      job->options[job->option_count++] = "-g";
    } else if (strcmp(word, "-L") == 0) {
      value_of(argc, argv, &i); /* Clang names its folders of libraries; it passes no library by -l. */
    } else if (word[0] == '-' && word[1] != 'L') {
      fail("unknown option", word, "this nvlink knows -o, -arch, -v, -g and -L");
    } else if (word[0] != '-') {
      if (job->input_count == kMaxInputs) fail("too many inputs at", word, "link at most 4096 files");
      job->inputs[job->input_count++] = word;
    }
    if (job->option_count == kMaxOptions - 1) fail("too many options at", word, "give each option once");
  }
  if (!job->arch[0]) fail("missing option", "-arch", "give the architecture, for example -arch sm_90");
  if (!job->input_count) fail("nothing to link into", job->output, "give at least one cubin");
  job->options[job->option_count++] = job->arch;
}

/* The library's own words say which symbol or file is at fault. */
static void print_log(nvJitLinkHandle handle) {
  size_t size = 0;
  if (nvJitLinkGetErrorLogSize(handle, &size) != NVJITLINK_SUCCESS || size == 0) return;
  char* text = malloc(size + 1);
  if (text && nvJitLinkGetErrorLog(handle, text) == NVJITLINK_SUCCESS) {
    text[size] = 0;
    fprintf(stderr, "%s\n", text);
  }
  free(text);
}

static void check(nvJitLinkHandle handle, nvJitLinkResult result, const char* what, const char* value) {
  if (result == NVJITLINK_SUCCESS) return;
  print_log(handle);
  char code[48];
  snprintf(code, sizeof code, "nvJitLink's error %d", (int)result);
  fail(what, value, code);
}

static void write_output(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  int written = file && fwrite(bytes, 1, size, file) == size;
  if (!file || fclose(file) != 0 || !written) fail("cannot write", path, "is the folder there and the disk not full?");
}

int main(int argc, char** argv) {
  static struct Job job = {.output = "a.out"};
  read_arguments(&job, argc, argv);
  nvJitLinkHandle handle = NULL;
  check(handle, nvJitLinkCreate(&handle, (uint32_t)job.option_count, job.options), "cannot start to link for",
        job.arch);
  for (int i = 0; i < job.input_count; i++)
    check(handle, nvJitLinkAddFile(handle, NVJITLINK_INPUT_CUBIN, job.inputs[i]), "cannot read the cubin",
          job.inputs[i]);
  check(handle, nvJitLinkComplete(handle), "cannot link", job.output);
  size_t size = 0;
  check(handle, nvJitLinkGetLinkedCubinSize(handle, &size), "no code for", job.output);
  void* bytes = malloc(size);
  if (!bytes) fail("no memory to write", job.output, "free some");
  check(handle, nvJitLinkGetLinkedCubin(handle, bytes), "no code for", job.output);
  write_output(job.output, bytes, size);
  free(bytes);
  nvJitLinkDestroy(&handle);
  return 0;
}
