/* Parts that other files of this program still wait for; each line goes when its part has landed. */
#include "device/device.h"

#pragma weak sim_fault_name
#pragma weak device_sim
