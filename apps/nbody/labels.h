/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of tasks for traces, where the option --labels asks for them. Without it a kind of task is named by the
 * function that creates it; labels add the hop, so that a chart shows how far round the ring the blocks have come. Made
 * by the main thread; tasks point to the names, which therefore live until the end of the run.
 */
#ifndef NBODY_LABELS_H
#define NBODY_LABELS_H

#include <stdbool.h>

enum { kLabelSize = 24 };

typedef enum { kLabelSend, kLabelRecv, kLabelForces, kLabelKinds } LabelKind;

typedef struct {
  char (*names)[kLabelSize]; /* hops x kLabelKinds; NULL: no labels */
} Labels;

/* False if memory does not suffice. */
bool labels_create(Labels* labels, int hops);
void labels_destroy(Labels* labels);

/* Names the next task that the calling task creates; nothing without labels. */
void label_next_task(const Labels* labels, LabelKind kind, int hop);

#endif
