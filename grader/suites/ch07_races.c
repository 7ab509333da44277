/* Chapter 07, races.txt: which pieces of code are races.
 *
 * The answers are derived, not listed.  Each piece is written once more below as what thread t
 * does to shared memory, in order.  A piece is a race when two threads touch one byte, at least
 * one of them writes it plainly, and nothing stands between: no __syncthreads() when they are of
 * two warps, neither __syncthreads() nor __syncwarp() when they are of one.  Atomics do not race
 * with each other. */
#include <string.h>

#include "suites/ch07.h"

enum { THREADS = 64, WARP = 32, TOUCHES = 4 };
enum kind { READS, WRITES, ADDS };

struct touch { enum kind kind; int byte, bytes, block_interval, warp_interval; };

struct trace {                 /* what one thread does */
  struct touch touches[TOUCHES];
  int count, block_interval, warp_interval;
};

static void touch(struct trace *t, enum kind kind, int byte, int bytes)
{
  t->touches[t->count++] = (struct touch){kind, byte, bytes, t->block_interval, t->warp_interval};
}

static void syncthreads(struct trace *t)
{
  t->block_interval++;
  t->warp_interval++;
}

static void syncwarp(struct trace *t) { t->warp_interval++; }

static bool apart(const struct touch *a, int ta, const struct touch *b, int tb)
{
  if (a->byte + a->bytes <= b->byte || b->byte + b->bytes <= a->byte) return true;
  if (a->kind == READS && b->kind == READS) return true;
  if (a->kind == ADDS && b->kind == ADDS) return true;
  if (a->block_interval != b->block_interval) return true;
  return ta / WARP == tb / WARP && a->warp_interval != b->warp_interval;
}

static bool is_race(void (*piece)(struct trace *, int))
{
  struct trace all[THREADS];
  memset(all, 0, sizeof all);
  for (int t = 0; t < THREADS; t++) piece(&all[t], t);
  for (int a = 0; a < THREADS; a++)
    for (int b = a + 1; b < THREADS; b++)
      for (int i = 0; i < all[a].count; i++)
        for (int k = 0; k < all[b].count; k++)
          if (!apart(&all[a].touches[i], a, &all[b].touches[k], b)) return true;
  return false;
}

/* ---- the pieces, arrays one after the other ------------------------------------------------ */

enum { S = 0, A = 256, B = 512 };
#define WORD(array, i) (array) + 4 * (i), 4

static void own_word(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, t));
  touch(p, READS, WORD(S, t));
}

static void mirror(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, t));
  touch(p, READS, WORD(S, 63 - t));
}

static void mirror_barrier(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, t));
  syncthreads(p);
  touch(p, READS, WORD(S, 63 - t));
}

static void read_then_write(struct trace *p, int t)
{
  touch(p, READS, WORD(S, 63 - t));
  touch(p, WRITES, WORD(S, t));
}

static void read_barrier_write(struct trace *p, int t)
{
  touch(p, READS, WORD(S, 63 - t));
  syncthreads(p);
  touch(p, WRITES, WORD(S, t));
}

static void neighbours(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, t));
  touch(p, READS, WORD(S, t ^ 1));
}

static void neighbours_warp(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, t));
  syncwarp(p);
  touch(p, READS, WORD(S, t ^ 1));
}

static void other_warp(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, t));
  syncwarp(p);
  touch(p, READS, WORD(S, t ^ 32));
}

static void all_write(struct trace *p, int t)
{
  (void)t;
  touch(p, WRITES, WORD(S, 0));
}

static void one_writes(struct trace *p, int t)
{
  if (t == 0) touch(p, WRITES, WORD(S, 0));
  touch(p, READS, WORD(S, 0));
}

static void all_add(struct trace *p, int t)
{
  (void)t;
  touch(p, ADDS, WORD(S, 0));
}

static void add_then_read(struct trace *p, int t)
{
  (void)t;
  touch(p, ADDS, WORD(S, 0));
  touch(p, READS, WORD(S, 0));
}

static void conflict(struct trace *p, int t)
{
  touch(p, WRITES, WORD(S, 32 * t));
  touch(p, READS, WORD(S, 32 * t));
}

static void bytes(struct trace *p, int t)
{
  touch(p, WRITES, t, 1);
  touch(p, READS, t, 1);
}

static void two_buffers(struct trace *p, int t)
{
  touch(p, READS, WORD(B, 63 - t));
  touch(p, WRITES, WORD(A, t));
}

static const struct piece {
  const char *name;
  void (*run)(struct trace *p, int t);
  const char *how;
} pieces[] = {
  {"own_word", own_word, "how many threads touch word 5?"},
  {"mirror", mirror, "who writes word 5, who reads it, and what stands between the two?"},
  {"mirror_barrier", mirror_barrier, "who writes word 5, who reads it, what stands between?"},
  {"read_then_write", read_then_write, "may thread 58 write word 58 before thread 5 has read it?"},
  {"read_barrier_write", read_barrier_write, "may thread 58 write before thread 5 has read?"},
  {"neighbours", neighbours, "two lanes of one warp: what promises that they run in step?"},
  {"neighbours_warp", neighbours_warp, "are the two threads in the same warp?"},
  {"other_warp", other_warp, "whom does __syncwarp() wait for?"},
  {"all_write", all_write, "how many threads write word 0, and which value is left?"},
  {"one_writes", one_writes, "may thread 40 read before thread 0 has written?"},
  {"all_add", all_add, "what is an atomic good for?"},
  {"add_then_read", add_then_read, "may thread 40 still add after thread 0 has read?"},
  {"conflict", conflict, "a conflict is about banks; how many threads touch word 32?"},
  {"bytes", bytes, "how many threads touch byte 5?"},
  {"two_buffers", two_buffers, "is any array both read and written?"},
};

enum { PIECES = sizeof pieces / sizeof *pieces };

const char *const ch07_names[] = {
  "own_word", "mirror", "mirror_barrier", "read_then_write", "read_barrier_write", "neighbours",
  "neighbours_warp", "other_warp", "all_write", "one_writes", "all_add", "add_then_read",
  "conflict", "bytes", "two_buffers", NULL
};

static void judge_races(struct verdict *v, const struct evidence *e, struct rng *r)
{
  (void)r;
  struct prediction rows[PIECES];
  for (int i = 0; i < PIECES; i++)
    rows[i] = (struct prediction){pieces[i].name, is_race(pieces[i].run), pieces[i].how};
  judge_predictions(v, e, rows, PIECES);
}

const struct test ch07_races[] = {
  {"predictions", 3, NULL, judge_races},
  {0}
};
