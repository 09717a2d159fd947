/* SPDX-License-Identifier: Apache-2.0
 *
 * What a compiler that Marline does not know, or a broken one, would register and call, written by hand: a region
 * without an image for the device, arguments and entries of a later version, tables that are torn. A line says it.
 *
 * Covers: OMP_TARGET_OFFLOAD
 */
#include "bad.h"
#include "../load/clang_tables.h"

#include <elf.h>

typedef struct {
  uint8_t magic[4];
  uint32_t version;
  uint64_t size, entry_offset, entry_size;
} OffloadBinary;

static char region_id;
static Entry entry = {0, 1, 1, 0, &region_id, "region", 0, 0, NULL};
static Descriptor descriptor = {0, NULL, &entry, &entry + 1};
static Elf64_Ehdr file;
static Image image = {&file, &file + 1, &entry, &entry + 1};

static void call(uint32_t version) {
  Arguments arguments = {.version = version};
  /* A positive result would be a region that failed; -1: the caller is to run the region on the host. */
  CHECK_EQ(__tgt_target_kernel(NULL, -1, -1, 0, &region_id, &arguments), -1);
}

static void without_image(void) {
  __tgt_register_lib(&descriptor);
  call(3);
}

static void make_image(uint16_t machine) {
  memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_ident[EI_VERSION] = EV_CURRENT;
  file.e_type = ET_DYN;
  file.e_machine = machine;
  descriptor.image_count = 1;
  descriptor.images = &image;
}

static void other_architecture(void) {
  make_image(190); /* EM_CUDA */
  without_image();
}

static void torn_image(void) {
  make_image(EM_X86_64);
  without_image();
}

static void newer_arguments(void) {
  __tgt_register_lib(&descriptor);
  call(6);
}

static void newer_entry(void) {
  entry.version = 2;
  __tgt_register_lib(&descriptor);
}

/* How Clang 14 and 16 would tell of `requires reverse_offload`, and how later ones would. None does: 14 accepts the
 * clause and forgets it, the others refuse it. */
static void reverse_call(void) { __tgt_register_requires(2); }

static void reverse_entry(void) {
  entry = (Entry){0, 1, 1, 0x10, NULL, "", 0, 2, NULL};
  __tgt_register_lib(&descriptor);
}

static void torn_entries(void) {
  descriptor.entries_end = (Entry*)((char*)&entry + 40);
  __tgt_register_lib(&descriptor);
}

static void backward_entries(void) {
  descriptor.entries_begin = &entry + 1;
  descriptor.entries_end = &entry;
  __tgt_register_lib(&descriptor);
}

static void nameless_entry(void) {
  entry.name = NULL;
  __tgt_register_lib(&descriptor);
}

static void negative_images(void) {
  descriptor.image_count = -1;
  __tgt_register_lib(&descriptor);
}

static void no_images(void) {
  descriptor.image_count = 1;
  __tgt_register_lib(&descriptor);
}

static void backward_image(void) {
  make_image(EM_X86_64);
  image.begin = &file + 1;
  image.end = &file;
  __tgt_register_lib(&descriptor);
}

/* The wrapping that Clang 16 puts around an image, with an entry offset past the wrapping's end. */
static void torn_wrapping(void) {
  static OffloadBinary binary = {{0x10, 0xff, 0x10, 0xad}, 1, sizeof binary, 1 << 20, 56};
  make_image(EM_X86_64);
  image.begin = &binary;
  image.end = &binary + 1;
  __tgt_register_lib(&descriptor);
}

int main(int argc, char** argv) {
  static const Mistake mistakes[] = {{"without_image", without_image},
                                     {"other_architecture", other_architecture},
                                     {"torn_image", torn_image},
                                     {"newer_arguments", newer_arguments},
                                     {"newer_entry", newer_entry},
                                     {"torn_entries", torn_entries},
                                     {"backward_entries", backward_entries},
                                     {"nameless_entry", nameless_entry},
                                     {"reverse_call", reverse_call},
                                     {"reverse_entry", reverse_entry},
                                     {"negative_images", negative_images},
                                     {"no_images", no_images},
                                     {"backward_image", backward_image},
                                     {"torn_wrapping", torn_wrapping}};
  return MAKE_MISTAKE(argc, argv, mistakes);
}
