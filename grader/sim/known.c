/* See known.h.  The kernel the instructions are put into has memory of every kind at hand, so that
 * most of them can also be run; a test does. */
#include <stdio.h>
#include <string.h>

#include "known.h"

struct asking {
  sim_known_user *use;
  void *user;
  unsigned right;              /* the way of writing that was right last */
};

/* Values that most instructions can do something with: lanes and bytes where they are taken. */
static const char *value_for(enum ptx_op op)
{
  switch (op) {
  case PTX_VOTE: case PTX_MATCH: case PTX_REDUX: case PTX_ELECT: case PTX_BAR_WARP: case PTX_SHFL:
    return "-1";
  case PTX_CP_ASYNC_BULK: case PTX_CP_REDUCE_ASYNC_BULK: case PTX_CP_ASYNC_BULK_PREFETCH:
  case PTX_ST_BULK: case PTX_ALLOCA:
    return "16";
  case PTX_MBARRIER_INIT: return "1";
  default: return "0";
  }
}

/* Sets each register the instruction names, and makes the barrier one. */
static void set_registers(const struct sim_known_answer *a, char *out, size_t size)
{
  static const struct { char letter; const char *type; } kinds[] = {
      {'h', "b16"}, {'w', "b32"}, {'l', "b64"}, {'p', "pred"}};
  size_t n = 0;
  *out = 0;
  for (const char *at = a->instruction; (at = strchr(at, '%')) && n + 40 < size; at++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      unsigned index, used = 0;
      if (at[1] != kinds[k].letter || sscanf(at + 2, "%2u%n", &index, (int *)&used) != 1) continue;
      n += (size_t)snprintf(out + n, size - n, "mov.%s %%%c%u, %s; ", kinds[k].type, at[1], index,
                            at[1] == 'p' ? "1" : value_for(a->spelling->op));
    }
  if (strstr(a->instruction, "%barrier") && a->spelling->op != PTX_MBARRIER_INIT)
    snprintf(out + n, size - n, "mov.b32 %%w39, %%tid.x; setp.eq.u32 %%p11, %%w39, 0; @%%p11 "
             "mbarrier.init.shared.b64 [%%barrier], 64; bar.sync 0;");
}

static void write_kernel(struct sim_known_answer *a)
{
  char values[2000];
  set_registers(a, values, sizeof values);
  snprintf(a->kernel, sizeof a->kernel,
           ".version 8.8\n.target sm_100a\n.address_size 64\n.func fn() { ret; }\n"
           ".const .align 32 .b8 constant[64] = {1, 2, 3};\n"
           ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b8 bar[8];\n"
           ".visible .entry k(.param .u64 memory, .param .u64 tensor, .param .align 32 .b8 in[64])\n"
           "{\n%s"
           ".param .align 32 .b8 out[64]; .local .align 32 .b8 own[64];\n"
           "ld.param.u64 %%global, [memory]; ld.param.u64 %%map, [tensor];\n"
           "mov.u64 %%local, own; mov.u64 %%shared, tile; cvta.shared.u64 %%generic, tile;\n"
           "mov.u64 %%barrier, bar; table: .branchtargets lab;\n%s\n%s;\nlab: ret;\n}\n",
           PTX_SPELL_REGISTERS, values, a->instruction);
}

static bool ask(struct sim_known_answer *a)
{
  struct ptx_error error = {0};
  write_kernel(a);
  struct ptx_module *m = ptx_read(a->kernel, strlen(a->kernel), &error);
  a->known = SIM_KNOWN_UNREADABLE;
  if (m) {
    struct sim_options options = {.threads = 1};
    struct sim *sim = sim_open(&options);
    a->known = sim_load(sim, m, &error) ? SIM_KNOWN_RUNS : SIM_KNOWN_REFUSED;
    sim_close(sim);
    ptx_free(m);
  }
  a->line = error.line;
  snprintf(a->text, sizeof a->text, "%s", error.text);
  const char *at = strstr(a->text, ";: ");
  a->why = at ? at + 3 : a->text;
  return m && !error.width;
}

static void answer(void *user, const struct ptx_spelling *s)
{
  struct asking *q = user;
  struct sim_known_answer a = {.spelling = s};
  bool read = ptx_spell(s, q->right, a.instruction, sizeof a.instruction) && ask(&a);
  for (unsigned way = 0; !read && ptx_spell(s, way, a.instruction, sizeof a.instruction); way++)
    if ((read = ask(&a))) q->right = way;
  if (!read) {   /* what was wrong with the first */
    ptx_spell(s, 0, a.instruction, sizeof a.instruction);
    ask(&a);
  }
  q->use(q->user, &a);
}

void sim_known_each(enum ptx_op op, unsigned form, sim_known_user *use, void *user)
{
  struct asking q = {.use = use, .user = user};
  ptx_spell_each(op, form, answer, &q);
}

void sim_known_special(enum ptx_special s, struct sim_known_answer *answer)
{
  static const enum ptx_type types[] = {
#define PTX_SPECIAL(name, text, type) PTX_T_##type,
#include "../ptx/specials.def"
#undef PTX_SPECIAL
  };
  static const struct ptx_spelling move = {.op = PTX_MOV};
  enum ptx_type type = types[s];
  char class = type == PTX_T_PRED ? 'p' : ptx_type_bits(type) == 64 ? 'l' : 'w';
  *answer = (struct sim_known_answer){.spelling = &move};
  snprintf(answer->instruction, sizeof answer->instruction, "mov.%s %%%c1, %s", ptx_type_text(type),
           class, ptx_special_text(s));
  ask(answer);
}
