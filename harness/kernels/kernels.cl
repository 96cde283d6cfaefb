// Compute kernels for tests and benches; README.md tells how they are compiled.

#define THREAD(axis) __builtin_amdgcn_workitem_id_##axis()
#define GROUP(axis) __builtin_amdgcn_workgroup_id_##axis()
#define ITEM (GROUP(x) * 256u + THREAD(x))

static void meet(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// y = a * x + y.
__attribute__((reqd_work_group_size(256, 1, 1)))
kernel void saxpy(global const float *restrict x, global float *restrict y, float a) {
    uint i = ITEM;
    y[i] = a * x[i] + y[i];
}

// c = a * b, of 256 x 256.
__attribute__((reqd_work_group_size(256, 1, 1)))
kernel void matmul(global const float *restrict a, global const float *restrict b, global float *restrict c) {
    uint i = ITEM, row = i >> 8, column = i & 255u;
    float sum = 0.0f;
#pragma clang loop unroll(disable)
    for (uint k = 0; k < 256; k++)
        sum = __builtin_fmaf(a[row * 256 + k], b[k * 256 + column], sum);
    c[i] = sum;
}

// Where each thread is, along three axes: out[thread of the whole launch] = packed ids.
kernel void places(global uint *out) {
    constant ushort *packet = __builtin_amdgcn_dispatch_ptr();
    constant uint *grid = (constant uint *)packet + 3;
    uint3 size = (uint3)(packet[2], packet[3], packet[4]);
    uint x = GROUP(x) * size.x + THREAD(x), y = GROUP(y) * size.y + THREAD(y), z = GROUP(z) * size.z + THREAD(z);
    out[(z * grid[1] + y) * grid[0] + x] =
        GROUP(x) | GROUP(y) << 4 | GROUP(z) << 8 | THREAD(x) << 12 | THREAD(y) << 20 | THREAD(z) << 28;
}

// Turns each work-group's 64 words around in LDS that the launch gives, behind LDS of its own.
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void reverse(global uint *words, local uint *given) {
    local uint own[64];
    uint i = THREAD(x), at = GROUP(x) * 64u + i;
    given[i] = words[at];
    own[63 - i] = i;
    meet();
    words[at] = given[own[i]];
}

// A histogram of 16 bins.
__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void count(global const uint *words, global uint *bins) {
    uint bin = words[GROUP(x) * 128u + THREAD(x)] & 15u;
    __opencl_atomic_fetch_add((volatile global atomic_uint *)&bins[bin], 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}

// Private memory that is reached by index: out = words[order[i] of the lane].
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void lookup(global const uint *words, global const uint *order, global uint *out) {
    volatile uint mine[24];
    uint i = THREAD(x), first = (GROUP(x) * 64u + i) * 24u;
    for (uint k = 0; k < 24; k++)
        mine[k] = words[first + k];
    uint sum = 0;
    for (uint k = 0; k < 24; k++)
        sum = sum * 31u + mine[order[i + k] % 24u];
    out[GROUP(x) * 64u + i] = sum;
}

// Numbers by value of every size, and the hidden global offset.
__attribute__((reqd_work_group_size(32, 1, 1)))
kernel void numbers(uchar a, short b, uint c, float d, ulong e, global ulong *out) {
    constant ulong *hidden = __builtin_amdgcn_implicitarg_ptr();
    uint i = THREAD(x);
    if (i == 0)
        out[0] = a + (long)b + c + (ulong)d + e + hidden[0];
}
