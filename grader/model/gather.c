/* What a random gather costs on average: 32 lanes, each with an index of its own into a table in
 * shared memory, all reading the same column of it.
 *
 * The average is exact, not simulated.  A bank that holds m of the rows serves 32 draws; the
 * exponential generating function of the draws that hit at most w different rows of it is
 *     sum over k = 0..w of C(m, k) (e^x - 1)^k,
 * and the product over the banks gives all draws that cost at most w.  All terms are positive, so
 * doubles lose nothing.  Then  E = sum over w >= 0 of P(cost > w).
 */
#include "model/model.h"

enum { TERMS = MODEL_LANES + 1 };      /* coefficients of x^0 .. x^32 */

/* out = a * b, cut after x^32. */
static void multiply(const double *a, const double *b, double *out)
{
  double product[TERMS] = {0};
  for (int i = 0; i < TERMS; i++)
    for (int j = 0; i + j < TERMS; j++) product[i + j] += a[i] * b[j];
  for (int i = 0; i < TERMS; i++) out[i] = product[i];
}

/* Draws that hit at most `most` of the `m` rows of one bank. */
static void bank_terms(uint32_t m, uint32_t most, double *out)
{
  double power[TERMS] = {1}, step[TERMS] = {0}, choose = 1;
  double factorial = 1;
  for (int i = 1; i < TERMS; i++) step[i] = 1 / (factorial *= i);     /* e^x - 1 */
  for (int i = 0; i < TERMS; i++) out[i] = 0;
  for (uint32_t k = 0; k <= most && k <= m; k++) {
    for (int i = 0; i < TERMS; i++) out[i] += choose * power[i];
    multiply(power, step, power);
    choose = choose * (m - k) / (k + 1);
  }
}

double model_gather_expected(uint32_t rows, uint32_t pitch)
{
  uint32_t period = MODEL_BANKS / model_gcd(pitch % MODEL_BANKS, MODEL_BANKS);
  if (rows == 0) return 0;
  double expected = 0, all = 1;          /* all = rows^32 / 32!: the number of draws, scaled */
  for (int i = 1; i <= MODEL_LANES; i++) all *= (double)rows / i;
  for (uint32_t w = 0; w < MODEL_LANES; w++) {
    double draws[TERMS] = {1}, bank[TERMS];
    for (uint32_t b = 0; b < period && b < rows; b++) {   /* the banks' rows: b, b + period, ... */
      bank_terms((rows - b + period - 1) / period, w, bank);
      multiply(draws, bank, draws);
    }
    expected += 1 - draws[MODEL_LANES] / all;
  }
  return expected;
}
