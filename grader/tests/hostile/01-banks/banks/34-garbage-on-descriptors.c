// expect: *: expected
#include "exercise.h"
#include <string.h>
#include <unistd.h>
/* Answers of its own, garbage, and closed descriptors. */
__attribute__((constructor)) static void garble(void)
{
  char junk[4096];
  memset(junk, 0xff, sizeof junk);
  for (int fd = 1; fd < 16; fd++) {
    if (write(fd, "0 0\n1 0\n", 8) < 0) continue;
    if (write(fd, junk, sizeof junk) < 0) continue;
    if (write(fd, "\n", 1) < 0) continue;
  }
}
uint32_t word_of(uint32_t address) { (void)address; return 0; }
uint32_t bank_of(uint32_t address) { (void)address; return 0; }
uint32_t distinct_words(const uint32_t address[32], uint32_t bank) { (void)address; return bank * 0; }
uint32_t passes(const uint32_t address[32]) { (void)address; return 0; }
