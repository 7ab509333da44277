/* banks lab: the eight-residue lab of chapter 03.  A pointer starts on residue 0 and moves by a
 * fixed step around a circle of m residues; the reader predicts after how many steps it is back,
 * then walks.  The walk is a column of lanes seen through small numbers: the circle is the banks,
 * the step the stride, and the period how many banks the lanes use. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "model/model.h"

enum { MODULUS = 8, STEP = 3, MOST = 32, STEP_MOST = 1000000 };

static const char usage[] =
  "usage: banks lab [--script 'COMMANDS']\n"
  "\n"
  "A pointer walks around m residues (think: banks) by a fixed step (think: stride).  Predict\n"
  "after how many steps it is back on 0, then step.  Commands come from standard input, one a\n"
  "line or several with ; between, or from --script:\n"
  "\n"
  "  modulus M     a circle of M residues, 1 to 32 (8 at first); starts anew\n"
  "  step S        the step, 0 to 1000000 (3 at first); starts anew\n"
  "  predict P     your period; only then are you told whether it is right\n"
  "  step          move once, and mark the residue\n"
  "  reset         back to residue 0, nothing marked, no prediction\n"
  "  show          the row again\n"
  "  help, quit\n";

struct lab {
  uint32_t modulus, step, at, moves;
  uint32_t visited;            /* bit r: residue r was visited */
  bool predicted;
};

static void reset(struct lab *lab)
{
  lab->at = lab->moves = 0;
  lab->visited = 1;
  lab->predicted = false;
}

static uint32_t period(const struct lab *lab)
{
  return lab->modulus / model_gcd(lab->step, lab->modulus);   /* gcd(0, m) = m */
}

/* Two rows: the residues, and below them # visited, @ the pointer. */
static void draw(const struct lab *lab)
{
  for (uint32_t r = 0; r < lab->modulus; r++) printf("%3u", r);
  printf("\n");
  for (uint32_t r = 0; r < lab->modulus; r++)
    printf("  %c", r == lab->at ? '@' : lab->visited >> r & 1 ? '#' : '.');
  printf("\n%d of %u visited after %u step%s of %u\n", __builtin_popcount(lab->visited),
         lab->modulus, lab->moves, lab->moves == 1 ? "" : "s", lab->step);
}

static void move(struct lab *lab)
{
  uint32_t from = lab->at;
  lab->at = (lab->at + lab->step) % lab->modulus;
  lab->moves++;
  lab->visited |= 1u << lab->at;
  printf("%u + %u = %u mod %u\n", from, lab->step, lab->at, lab->modulus);
  draw(lab);
  if (lab->at == 0 && lab->predicted && lab->moves == period(lab))
    printf("Back on 0 after %u step%s: that is the period.\n", lab->moves,
           lab->moves == 1 ? "" : "s");
  else if (lab->at == 0 && lab->moves <= lab->modulus)
    printf("Back on 0.%s\n", lab->predicted ? "" : " You had not predicted; try another step.");
}

static void predict(struct lab *lab, uint32_t guess)
{
  uint32_t g = model_gcd(lab->step, lab->modulus), p = period(lab);
  lab->predicted = true;
  printf("%s: the period is m / gcd(s, m) = %u / gcd(%u, %u) = %u / %u = %u.\n",
         guess == p ? "Right" : "Wrong", lab->modulus, lab->step, lab->modulus, lab->modulus, g,
         p);
  if (g == 1) printf("Step and modulus share no factor, so every residue is visited.\n");
  else printf("Both are multiples of %u, so only every %u%s residue is visited.\n", g, g,
              g == 2 ? "nd" : g == 3 ? "rd" : g % 10 == 1 && g != 11 ? "st" :
              g % 10 == 2 && g != 12 ? "nd" : g % 10 == 3 && g != 13 ? "rd" : "th");
}

__attribute__((format(printf, 1, 2)))
static bool complain(const char *format, ...)
{
  va_list args;
  fflush(stdout);
  fprintf(stderr, "banks lab: ");
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fprintf(stderr, "\n");
  return false;
}

/* A whole number from lowest to most, nothing else. */
static bool number(const char *word, const char *name, uint32_t lowest, uint32_t most,
                   uint32_t *value)
{
  uint64_t v = 0;
  const char *p = word;
  for (; isdigit((unsigned char)*p) && v <= most; p++) v = v * 10 + (uint64_t)(*p - '0');
  if (p == word || *p || v < lowest || v > most)
    return complain("%s: expected a whole number from %u to %u, found '%.40s'", name, lowest, most,
                    word);
  *value = (uint32_t)v;
  return true;
}

enum outcome { GO_ON, BAD, QUIT };

static enum outcome obey(struct lab *lab, char *command)
{
  char *words[3] = {NULL, NULL, NULL}, *save = NULL;
  int n = 0;
  for (char *w = strtok_r(command, " \t\r\n", &save); w; w = strtok_r(NULL, " \t\r\n", &save)) {
    if (n == 2) {
      complain("'%.40s': a command takes one number at most; found '%.40s' after it", words[0], w);
      return BAD;
    }
    for (char *c = w; *c; c++)
      *c = iscntrl((unsigned char)*c) ? '?' : (char)tolower((unsigned char)*c);
    words[n++] = w;
  }
  if (n == 0) return GO_ON;
  const char *name = words[0], *value = words[1];
  uint32_t v;
  bool takes = !strcmp(name, "modulus") || !strcmp(name, "predict");
  bool plain = !strcmp(name, "reset") || !strcmp(name, "show") || !strcmp(name, "help") ||
               !strcmp(name, "quit") || !strcmp(name, "exit");
  if (takes && !value) {
    complain("%s needs a number, for example '%s 8'", name, name);
    return BAD;
  }
  if (plain && value) {
    complain("%s takes no number, found '%.40s'", name, value);
    return BAD;
  }
  if (!strcmp(name, "modulus")) {
    if (!number(value, name, 1, MOST, &v)) return BAD;
    lab->modulus = v;
    reset(lab);
    draw(lab);
  } else if (!strcmp(name, "step") && value) {
    if (!number(value, name, 0, STEP_MOST, &v)) return BAD;
    lab->step = v;
    reset(lab);
    draw(lab);
  } else if (!strcmp(name, "step")) {
    move(lab);
  } else if (!strcmp(name, "predict")) {
    if (!number(value, name, 0, STEP_MOST, &v)) return BAD;
    predict(lab, v);
  } else if (!strcmp(name, "reset")) {
    reset(lab);
    draw(lab);
  } else if (!strcmp(name, "show")) {
    draw(lab);
  } else if (!strcmp(name, "help")) {
    fputs(usage, stdout);
  } else if (!strcmp(name, "quit") || !strcmp(name, "exit")) {
    return QUIT;
  } else {
    complain("there is no command '%.40s'; there are modulus, step, predict, reset, show, help, "
             "quit", name);
    return BAD;
  }
  return GO_ON;
}

/* The commands of one line, with ; between.  Stops at the first bad one. */
static enum outcome obey_line(struct lab *lab, char *line)
{
  enum outcome outcome = GO_ON;
  for (char *command; outcome == GO_ON && (command = strsep(&line, ";"));)
    outcome = obey(lab, command);
  return outcome;
}

static void farewell(const struct lab *lab)
{
  uint32_t g = model_gcd(lab->step, MODEL_BANKS);
  if (lab->step == 0)
    printf("With 32 banks: stride 0 is one word for all lanes, a broadcast: 1 wavefront.\n");
  else
    printf("With 32 banks: stride %u words uses 32 / gcd(%u, 32) = %u banks, so 32 lanes take %u "
           "wavefront%s.\n", lab->step, lab->step, MODEL_BANKS / g, g, g == 1 ? "" : "s");
}

int command_lab(int argc, char **argv)
{
  struct lab lab = {.modulus = MODULUS, .step = STEP};
  char *script = NULL;
  bool bad = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      fputs(usage, stdout);
      return CLI_OK;
    }
    if (strcmp(argv[i], "--script") || i + 1 == argc || script) {
      complain("expected --script 'COMMANDS' once, found '%s'; see --help", argv[i]);
      return CLI_USAGE;
    }
    script = argv[++i];
  }
  reset(&lab);
  bool interactive = !script && isatty(STDIN_FILENO);
  if (interactive) printf("help lists the commands; predict the period before you step.\n");
  draw(&lab);
  if (script) {
    bad = obey_line(&lab, script) == BAD;
  } else {
    char *line = NULL;
    size_t room = 0;
    for (;;) {
      if (interactive) {
        printf("> ");
        fflush(stdout);
      }
      if (getline(&line, &room, stdin) < 0) break;
      enum outcome outcome = obey_line(&lab, line);
      if (outcome == QUIT) break;
      if (outcome == BAD && !interactive) bad = true;   /* a person types it again */
      if (bad) break;
    }
    if (interactive) printf("\n");
    free(line);
  }
  if (!bad) farewell(&lab);
  if (fflush(stdout) || ferror(stdout)) {
    complain("standard output cannot be written");
    return CLI_OURS;
  }
  return bad ? CLI_USAGE : CLI_OK;
}
