/* What the simulator does not run at all, and why: the message a kernel that has one is refused with,
 * and what the page of instructions says of it. */
#include "rows.h"

#define NO(row, because) {.op = PTX_##row, .why = because}

#define TEXTURE "textures and surfaces are not simulated"
#define WARPGROUP "operations of a warpgroup on the tensor cores (wgmma) are not simulated"
#define TENSOR_MEMORY "tensor memory (tcgen05, compute capability 10.0) is not simulated"
#define MULTICAST "multicast memory of several devices is not simulated"
#define LAUNCH_CONTROL "taking over the work of another block (compute capability 10.0) is not simulated"
#define NEW_MAPS "tensor maps that the kernel itself changes are not simulated"

#define BETWEEN "reductions that another block's barrier is told of are not simulated"
#define STACK "a stack that grows at run time (alloca) is not simulated"
#define SPARSE "mma with a sparse A is not simulated"
#define FILLED "filling shared memory in bulk (st.bulk) is not simulated"

const struct sim_form sim_forms_refused[] = {
    NO(TEX, TEXTURE), NO(TLD4, TEXTURE), NO(TXQ, TEXTURE), NO(SULD, TEXTURE), NO(SUST, TEXTURE),
    NO(SURED, TEXTURE), NO(SUQ, TEXTURE), NO(ISTYPEP, TEXTURE),
    NO(WGMMA_FENCE, WARPGROUP), NO(WGMMA_COMMIT_GROUP, WARPGROUP), NO(WGMMA_WAIT_GROUP, WARPGROUP),
    NO(WGMMA_MMA_ASYNC, WARPGROUP),
    NO(TCGEN05_ALLOC, TENSOR_MEMORY), NO(TCGEN05_DEALLOC, TENSOR_MEMORY),
    NO(TCGEN05_RELINQUISH, TENSOR_MEMORY), NO(TCGEN05_LD, TENSOR_MEMORY),
    NO(TCGEN05_ST, TENSOR_MEMORY), NO(TCGEN05_WAIT, TENSOR_MEMORY), NO(TCGEN05_CP, TENSOR_MEMORY),
    NO(TCGEN05_SHIFT, TENSOR_MEMORY), NO(TCGEN05_MMA, TENSOR_MEMORY),
    NO(TCGEN05_COMMIT, TENSOR_MEMORY), NO(TCGEN05_FENCE, TENSOR_MEMORY),
    NO(MULTIMEM_LD_REDUCE, MULTICAST), NO(MULTIMEM_ST, MULTICAST), NO(MULTIMEM_RED, MULTICAST),
    NO(MULTIMEM_CP_ASYNC_BULK, MULTICAST), NO(MULTIMEM_CP_REDUCE_ASYNC_BULK, MULTICAST),
    NO(CLUSTERLAUNCHCONTROL_TRY_CANCEL, LAUNCH_CONTROL),
    NO(CLUSTERLAUNCHCONTROL_QUERY_CANCEL, LAUNCH_CONTROL),
    NO(TENSORMAP_REPLACE, NEW_MAPS), NO(TENSORMAP_CP_FENCEPROXY, NEW_MAPS),
    NO(RED_ASYNC, BETWEEN), NO(ST_BULK, FILLED),
    NO(ALLOCA, STACK), NO(STACKSAVE, STACK), NO(STACKRESTORE, STACK),
    NO(MMA_SP, SPARSE), NO(MMA_SP_ORDERED, SPARSE),
    {.op = PTX_OPS},
};
