/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of nodes by 64-bit keys, which grows with their number. Nodes lie in their owners' structs, each in one
 * table at a time. All functions are called under a lock of the owner's, but for key_table_peek().
 */
#ifndef MARLINE_MPI_KEY_TABLE_H
#define MARLINE_MPI_KEY_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct KeyNode KeyNode;
struct KeyNode {
  KeyNode* next; /* of the same bucket */
  uint64_t key;
};

/* The buckets. At least four times as many as nodes, so a chain is one node long, mostly. Those from before the table
 * grew are kept, as a thread that peeks may be at them: together they are smaller than the present ones. */
typedef struct KeyBuckets KeyBuckets;

typedef struct KeyTable {
  _Atomic(KeyBuckets*) buckets; /* NULL: empty. Stored under the lock with release, for key_table_peek() */
  size_t count;
} KeyTable;

void key_table_add(KeyTable* table, KeyNode* node, uint64_t key);

/* The node is in the table. */
void key_table_remove(KeyTable* table, KeyNode* node);

/* NULL: there is none. The node is moved to where key_table_peek() sees it. */
KeyNode* key_table_find(KeyTable* table, uint64_t key);

/* Without the lock: a node that is or was in the key's bucket, or NULL. What it held when it was put there is seen; it
 * may have been changed since, so nodes of a table that is peeked into are not freed. */
KeyNode* key_table_peek(KeyTable* table, uint64_t key);

/* Calls visit(node, arg) for each. */
void key_table_for_each(const KeyTable* table, void (*visit)(KeyNode* node, void* arg), void* arg);

#endif
