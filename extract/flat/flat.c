#include "flat.h"
#include "tree_sitter/api.h"

#include <stdlib.h>
#if defined(__APPLE__)
#include <malloc/malloc.h>
#define flat_size malloc_size
#else
#include <malloc.h>
#define flat_size malloc_usable_size
#endif
#include <time.h>

struct flat_parser {
  TSParser *parser;
  flat_node *nodes;
  uint32_t count, cap;
  uint32_t *open; // indexes of the ancestors of the node under the cursor
  uint32_t open_cap;
};

typedef struct {
  const char *src;
  uint32_t len;
  bool newline;
} flat_input;

typedef struct {
  uint64_t deadline;
  int64_t most; // bytes
  int stopped;  // the status that the parse was stopped with, 0 while it runs
} flat_bounds;

// What the library holds on this thread, in bytes: a parse begins and ends on
// one, and a hostile file of 2 MB can take gigabytes.
static __thread int64_t held;

static void *counted(void *p) {
  if (p != NULL) held += (int64_t)flat_size(p);
  return p;
}

static void *flat_malloc(size_t n) { return counted(malloc(n)); }
static void *flat_calloc(size_t n, size_t size) { return counted(calloc(n, size)); }

static void *flat_realloc(void *p, size_t n) {
  int64_t before = p != NULL ? (int64_t)flat_size(p) : 0;
  void *grown = realloc(p, n);
  if (grown != NULL) held += (int64_t)flat_size(grown) - before;
  return grown;
}

static void flat_release(void *p) {
  if (p != NULL) held -= (int64_t)flat_size(p);
  free(p);
}

// go-tree-sitter installs Go callbacks as C allocator in its init, which costs
// a third to a half of all parsing. It is libc's again, and counted.
void flat_init(void) { ts_set_allocator(flat_malloc, flat_calloc, flat_realloc, flat_release); }

flat_parser *flat_new(void) {
  flat_parser *p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  p->parser = ts_parser_new();
  return p;
}

void flat_free(flat_parser *p) {
  if (p == NULL) return;
  ts_parser_delete(p->parser);
  free(p->nodes);
  free(p->open);
  free(p);
#ifdef __GLIBC__
  malloc_trim(0); // the trees of a whole build lie scattered over the heap
#endif
}

static uint64_t thread_cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *flat_read(void *payload, uint32_t at, TSPoint position, uint32_t *n) {
  (void)position;
  flat_input *in = payload;
  if (at < in->len) {
    *n = in->len - at;
    return in->src + at;
  }
  *n = in->newline && at == in->len ? 1 : 0;
  return *n ? "\n" : "";
}

static bool flat_progress(TSParseState *state) {
  flat_bounds *bounds = state->payload;
  if (thread_cpu_ns() > bounds->deadline) bounds->stopped = FLAT_TIMEOUT;
  if (held > bounds->most) bounds->stopped = FLAT_NO_MEMORY;
  return bounds->stopped != 0;
}

static bool reserve(void **items, uint32_t *cap, uint32_t want, size_t size) {
  if (want <= *cap) return true;
  uint32_t n = *cap ? *cap * 2 : 4096;
  void *grown = realloc(*items, (size_t)n * size);
  if (grown == NULL) return false;
  *items = grown;
  *cap = n;
  return true;
}

static int flatten(flat_parser *p, TSNode root, uint32_t len, uint32_t max_depth, uint64_t deadline) {
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  uint32_t depth = 0;
  int status = FLAT_OK;
  p->count = 0;
  for (;;) {
    if (p->count % 65536 == 65535 && thread_cpu_ns() > deadline) {
      status = FLAT_TIMEOUT;
      break;
    }
    if (!reserve((void **)&p->nodes, &p->cap, p->count + 1, sizeof *p->nodes) ||
        !reserve((void **)&p->open, &p->open_cap, depth + 1, sizeof *p->open)) {
      status = FLAT_NO_MEMORY;
      break;
    }
    TSNode node = ts_tree_cursor_current_node(&cursor);
    flat_node *out = &p->nodes[p->count];
    out->start = ts_node_start_byte(node);
    out->end = ts_node_end_byte(node);
    if (out->start > len) out->start = len;
    if (out->end > len) out->end = len;
    out->kind = ts_node_symbol(node);
    out->field = (uint8_t)ts_tree_cursor_current_field_id(&cursor);
    out->flags = (ts_node_is_named(node) ? FLAT_NAMED : 0) | (ts_node_is_error(node) ? FLAT_ERROR : 0) |
                 (ts_node_is_missing(node) ? FLAT_MISSING : 0) | (ts_node_is_extra(node) ? FLAT_EXTRA : 0) |
                 (ts_node_has_error(node) ? FLAT_HAS_ERROR : 0);
    p->open[depth] = p->count++;
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      if (++depth > max_depth) {
        status = FLAT_TOO_DEEP;
        break;
      }
      continue;
    }
    p->nodes[p->open[depth]].next = p->count;
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (depth == 0) goto done;
      ts_tree_cursor_goto_parent(&cursor);
      p->nodes[p->open[--depth]].next = p->count;
    }
  }
done:
  ts_tree_cursor_delete(&cursor);
  return status;
}

static int parse(flat_parser *p, const void *language, flat_input in, uint64_t deadline, uint32_t depth) {
  if (!ts_parser_set_language(p->parser, language)) return FLAT_BAD_LANGUAGE;
  ts_parser_reset(p->parser);
  flat_bounds bounds = {deadline, held + FLAT_MOST_BYTES, 0};
  TSInput input = {.payload = &in, .read = flat_read, .encoding = TSInputEncodingUTF8};
  TSParseOptions options = {.payload = &bounds, .progress_callback = flat_progress};
  TSTree *tree = ts_parser_parse_with_options(p->parser, NULL, input, options);
  if (tree == NULL) {
    // A parse that was stopped while its tree was being balanced goes on there
    // the next time, with a tree that is gone: ts_parser_reset of v0.25.0 forgets
    // to forget it. A parser that was stopped is not used again.
    ts_parser_delete(p->parser);
    p->parser = ts_parser_new();
    return bounds.stopped != 0 ? bounds.stopped : FLAT_FAILED;
  }
  int status = flatten(p, ts_tree_root_node(tree), in.len, depth, deadline);
  ts_tree_delete(tree);
  return status;
}

int flat_parse(flat_parser *p, const void *language, const char *src, uint32_t len,
               bool newline, uint64_t *cpu_ns, uint32_t depth,
               const flat_node **nodes, uint32_t *count) {
  uint64_t start = thread_cpu_ns();
  p->count = 0;
  int status = parse(p, language, (flat_input){src, len, newline}, start + *cpu_ns, depth);
  *cpu_ns = thread_cpu_ns() - start;
  *nodes = p->nodes;
  *count = p->count;
  return status;
}
