#ifndef EXHIBIT_FLAT_H
#define EXHIBIT_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One node of a flattened tree, in preorder. `next` is the index of the first
// node after its subtree. The Go side reads this very layout.
typedef struct {
  uint32_t start, end, next;
  uint16_t kind;
  uint8_t field;
  uint8_t flags;
} flat_node;

enum { FLAT_NAMED = 1, FLAT_ERROR = 2, FLAT_MISSING = 4, FLAT_EXTRA = 8, FLAT_HAS_ERROR = 16 };

enum { FLAT_OK = 0, FLAT_TIMEOUT = 1, FLAT_TOO_DEEP = 2, FLAT_NO_MEMORY = 3, FLAT_BAD_LANGUAGE = 4, FLAT_FAILED = 5 };

// What one parse may hold beyond what its parser held before.
#define FLAT_MOST_BYTES (512ll << 20)

typedef struct flat_parser flat_parser;

void flat_init(void);
flat_parser *flat_new(void);
void flat_free(flat_parser *p);

// flat_parse parses len bytes and flattens the tree, all in one call. The nodes
// stay valid until the next call on the same parser. *cpu_ns bounds the CPU time
// of the calling thread, and becomes what was used; depth bounds the nesting; with newline, a line feed is
// served after the last byte and cut off again from every range.
int flat_parse(flat_parser *p, const void *language, const char *src, uint32_t len,
               bool newline, uint64_t *cpu_ns, uint32_t depth,
               const flat_node **nodes, uint32_t *count);

#endif
