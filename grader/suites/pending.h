/* Parts that other files of this program still wait for; each line goes when its part has landed. */
#pragma weak sim_fault_name
#pragma weak sim_result_free
#pragma weak model_cost
#pragma weak model_rule_text
#pragma weak model_stride_find
#pragma weak device_sim
#pragma weak ptx_read
#pragma weak ptx_free
#pragma weak ptx_find_entry
#pragma weak toolchain_c
#pragma weak toolchain_cuda
#pragma weak toolchain_ask
#pragma weak compiled_free
#pragma weak sandbox_result_free
