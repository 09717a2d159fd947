/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of nodes by 64-bit keys, which grows with the number of nodes. A node is a member of its owner's struct,
 * and is in one table at a time. All functions except key_table_peek() are called under a lock of the owner.
 */
#ifndef MARLINE_MPI_KEY_TABLE_H
#define MARLINE_MPI_KEY_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct KeyNode KeyNode;
struct KeyNode {
  KeyNode* next; /* the next node of the same bucket */
  uint64_t key;
};

/* The buckets. There are at least four times as many as nodes, so most chains have one node. When the table grows,
 * the old buckets are kept, because a thread may be peeking into them: together they are smaller than the present
 * ones. */
typedef struct KeyBuckets KeyBuckets;

typedef struct KeyTable {
  _Atomic(KeyBuckets*) buckets; /* NULL: empty. Stored under the lock with release, for key_table_peek() */
  size_t count;
} KeyTable;

void key_table_add(KeyTable* table, KeyNode* node, uint64_t key);

/* The node must be in the table. */
void key_table_remove(KeyTable* table, KeyNode* node);

/* Returns NULL if there is no such node. Moves the node to where key_table_peek() sees it. */
KeyNode* key_table_find(KeyTable* table, uint64_t key);

/* Called without the lock. Returns a node that is or was in the key's bucket, or NULL. The caller sees the node as
 * it was when it was put there. It may have been changed since, so nodes of a table that is peeked into are not
 * freed. */
KeyNode* key_table_peek(KeyTable* table, uint64_t key);

/* Calls visit(node, arg) for each node. */
void key_table_for_each(const KeyTable* table, void (*visit)(KeyNode* node, void* arg), void* arg);

#endif
