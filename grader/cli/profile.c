/* banks profile: run any kernel on the simulator and say where its wavefronts go.
 *
 * The file is the author's own, so it is compiled where it lies, with its own includes; only a
 * compiled kernel runs on the simulator, which can harm nothing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "profile/profile.h"
#include "profile/request.h"

static void help(void)
{
  printf("usage: banks profile FILE KERNEL --grid X[,Y[,Z]] --block X[,Y[,Z]] [OPTIONS] "
         "ARGUMENT...\n%s"
         "exit status: 0 clean, 1 a fault in the kernel, 2 bad input, 3 our fault\n",
         request_help);
}

static bool save(struct sim *sim, const struct argument *a)
{
  const void *data = a->bytes ? sim_host(sim, a->address, a->bytes) : "";
  FILE *f = data ? fopen(a->save, "wb") : NULL;
  bool ok = f && fwrite(data, 1, a->bytes, f) == a->bytes;
  if (f && fclose(f) != 0) ok = false;
  if (!ok) fprintf(stderr, "banks profile: cannot write %s: %s\n", a->save, strerror(errno));
  return ok;
}

static int report(const struct request *q)
{
  struct profile p = {.kernel = q->kernel, .module = q->module, .entry = q->entry,
                      .flags = q->flags, .nflags = q->nflags, .result = &q->result,
                      .notes = q->notes, .nnotes = q->nnotes};
  int status = q->result.nfaults ? CLI_FAILED : CLI_OK;
  if (!profile_lines(&p, q->file, q->ptx)) status = CLI_OURS;
  else if (!q->json) profile_print(stdout, &p, q->pictures);
  else if (!profile_json(stdout, &p)) status = CLI_OURS;
  for (size_t i = 0; i < q->nbuffers; i++)
    if (q->buffers[i]->save && !save(q->sim, q->buffers[i])) status = CLI_USAGE;
  profile_free(&p);
  return status;
}

int command_profile(int argc, char **argv)
{
  if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
    help();
    return argc < 2 ? CLI_USAGE : CLI_OK;
  }
  struct request q;
  int status = request_parse(argc - 1, argv + 1, "profile", &q);
  if (status == 0) status = request_load(&q);
  if (status == 0) status = request_run(&q);
  if (status == 0) status = request_refused(&q) ? CLI_USAGE : report(&q);
  request_free(&q);
  return status;
}
