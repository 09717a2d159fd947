/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds, removes and finds nodes in the buckets.
 */
#include "comm/key_table.h"

#include <stdlib.h>

#include "base/report.h"

enum { kFirstBits = 8, kBucketsPerNode = 4 };

struct KeyBuckets {
  int bits;
  _Atomic(KeyNode*) first[]; /* 1 << bits. Stored under the lock with release, for key_table_peek() */
};

static KeyBuckets* buckets_of(const KeyTable* table) {
  return atomic_load_explicit(&table->buckets, memory_order_relaxed);
}

static _Atomic(KeyNode*)* bucket_of(KeyBuckets* buckets, uint64_t key) {
  /* Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
  return &buckets->first[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - buckets->bits)];
}

static void put_first(KeyBuckets* buckets, KeyNode* node) {
  _Atomic(KeyNode*)* bucket = bucket_of(buckets, node->key);
  node->next = atomic_load_explicit(bucket, memory_order_relaxed);
  atomic_store_explicit(bucket, node, memory_order_release); /* pairs with key_table_peek() */
}

static void take_from(_Atomic(KeyNode*)* bucket, const KeyNode* node) {
  KeyNode* first = atomic_load_explicit(bucket, memory_order_relaxed);
  if (first == node) {
    atomic_store_explicit(bucket, node->next, memory_order_release); /* pairs with key_table_peek() */
    return;
  }
  while (first->next != node) first = first->next;
  first->next = node->next;
}

static void grow(KeyTable* table) {
  KeyBuckets* old = buckets_of(table);
  const int bits = old != NULL ? old->bits + 1 : kFirstBits;
  KeyBuckets* buckets = calloc(1, sizeof *buckets + (sizeof buckets->first[0] << bits));
  if (buckets == NULL) report_fatal("no memory for %zu communicators: free some", table->count);
  buckets->bits = bits;
  for (size_t i = 0; old != NULL && i < (size_t)1 << old->bits; ++i) {
    KeyNode* node = atomic_load_explicit(&old->first[i], memory_order_relaxed);
    while (node != NULL) {
      KeyNode* next = node->next;
      put_first(buckets, node);
      node = next;
    }
  }
  atomic_store_explicit(&table->buckets, buckets, memory_order_release); /* pairs with key_table_peek() */
}

void key_table_add(KeyTable* table, KeyNode* node, uint64_t key) {
  ++table->count;
  if (buckets_of(table) == NULL || table->count * kBucketsPerNode > (size_t)1 << buckets_of(table)->bits) grow(table);
  node->key = key;
  put_first(buckets_of(table), node);
}

void key_table_remove(KeyTable* table, KeyNode* node) {
  take_from(bucket_of(buckets_of(table), node->key), node);
  --table->count;
}

KeyNode* key_table_find(KeyTable* table, uint64_t key) {
  KeyBuckets* buckets = buckets_of(table);
  if (buckets == NULL) return NULL;
  _Atomic(KeyNode*)* bucket = bucket_of(buckets, key);
  KeyNode* node = atomic_load_explicit(bucket, memory_order_relaxed);
  while (node != NULL && node->key != key) node = node->next;
  if (node != NULL && node != atomic_load_explicit(bucket, memory_order_relaxed)) {
    take_from(bucket, node);
    put_first(buckets, node);
  }
  return node;
}

KeyNode* key_table_peek(KeyTable* table, uint64_t key) {
  /* Acquire, twice: pairs with the releases in grow() and put_first(). */
  KeyBuckets* buckets = atomic_load_explicit(&table->buckets, memory_order_acquire);
  return buckets != NULL ? atomic_load_explicit(bucket_of(buckets, key), memory_order_acquire) : NULL;
}

void key_table_for_each(const KeyTable* table, void (*visit)(KeyNode* node, void* arg), void* arg) {
  KeyBuckets* buckets = buckets_of(table);
  for (size_t i = 0; buckets != NULL && i < (size_t)1 << buckets->bits; ++i) {
    KeyNode* node = atomic_load_explicit(&buckets->first[i], memory_order_relaxed);
    for (; node != NULL; node = node->next) visit(node, arg);
  }
}
