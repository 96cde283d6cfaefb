// The work of the benchmarks as one would write it for a host by hand: what guest programs are measured against.
// The `.spv` files beside this one are made of it, an entry point each, without run-time checks.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read> z: array<f32>;

const SIDE: u32 = 256u;

@compute @workgroup_size(256)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    y[i] = fma(2.0, x[i], y[i]);
}

@compute @workgroup_size(256)
fn matmul(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let row = i / SIDE;
    let column = i % SIDE;
    var sum = 0.0;
    for (var k = 0u; k < SIDE; k++) {
        sum = fma(x[row * SIDE + k], z[k * SIDE + column], sum);
    }
    y[i] = sum;
}

@group(0) @binding(0) var<storage, read> vertices: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> captured: array<vec4<f32>>;

// Reads 16 bytes a vertex and writes 32, and does nothing else.
@compute @workgroup_size(256)
fn stream(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 256u;
    if i < arrayLength(&vertices) {
        let vertex = vertices[i];
        captured[2u * i] = vertex;
        captured[2u * i + 1u] = vertex;
    }
}
