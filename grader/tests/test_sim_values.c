/* Every instruction the simulator runs, against C, on random values and edges. */
#include <check.h>

#include "sim_values.h"

static const struct value_table *const tables[] = {&values_int,     &values_bits,    &values_float,
                                                   &values_compare, &values_convert, &values_move,
                                                   &values_warp,    &values_atomic,
                                                   &values_pair,    &values_video};

START_TEST(values)
{
  sim_values_check(tables[_i]->rows, tables[_i]->count);
}
END_TEST

START_TEST(memory)
{
  struct value_table t = values_memory();
  sim_values_check(t.rows, t.count);
}
END_TEST

Suite *suite_sim_values(void)
{
  Suite *s = suite_create("sim_values");
  TCase *t = tcase_create("values");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, values, 0, sizeof tables / sizeof *tables);
  tcase_add_test(t, memory);
  suite_add_tcase(s, t);
  return s;
}
