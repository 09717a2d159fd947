/* SPDX-License-Identifier: Apache-2.0
 *
 * See labels.h. The program does not link Marline: the header looks for the recording at run time, on any runtime.
 */
#include "labels.h"

#include <marline/trace.h>
#include <stdio.h>
#include <stdlib.h>

static char* name_of(const Labels* labels, LabelKind kind, int hop) {
  return labels->names[(size_t)hop * kLabelKinds + kind];
}

bool labels_create(Labels* labels, int hops) {
  static const char* const kNames[kLabelKinds] = {
      [kLabelSend] = "send", [kLabelRecv] = "receive", [kLabelForces] = "forces"};
  labels->names = calloc((size_t)hops * kLabelKinds, sizeof *labels->names);
  if (!labels->names) {
    return false;
  }
  for (int hop = 0; hop < hops; ++hop) {
    for (LabelKind kind = 0; kind < kLabelKinds; ++kind) {
      snprintf(name_of(labels, kind, hop), kLabelSize, "%s, hop %d", kNames[kind], hop);
    }
  }
  return true;
}

void labels_destroy(Labels* labels) {
  free(labels->names);
  labels->names = NULL;
}

void label_next_task(const Labels* labels, LabelKind kind, int hop) {
  if (labels->names) {
    marline_name_task(name_of(labels, kind, hop), 0);
  }
}
