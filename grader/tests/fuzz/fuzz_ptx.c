/* libFuzzer's entry: any bytes to feed_ptx.  See mutate.c for how they come about. */
#include <stdint.h>

#include "../feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  feed_ptx((const char *)data, size);
  return 0;
}
