#!/usr/bin/env bash
# Everything that a change must pass: formatting, lints, and all tests. Works on a fresh x86-64 Debian or Ubuntu with a Rust
# toolchain; what is missing of LLVM's command-line tools (the oracle of the disassembler), of clang and lld (which make kernels), of
# Mesa's drivers and of piglit is installed first.
set -euo pipefail
cd "$(dirname "$0")"

install() {
    local root=""
    [ "$(id -u)" = 0 ] || root=sudo
    $root apt-get update -qq
    $root apt-get install -y -qq --no-install-recommends "$@"
}

there() {
    ls "$@" >/dev/null 2>&1
}

llvm_tools() {
    command -v llvm-mc >/dev/null && command -v llvm-objdump >/dev/null
}

if ! llvm_tools; then
    install llvm
    llvm_tools || { echo "llvm-mc and llvm-objdump are still missing" >&2; exit 1; }
fi

# The compiler of kernels.
there /usr/bin/clang-[0-9]* /usr/bin/ld.lld-[0-9]* || install clang lld

# A software Vulkan device for the tests of the wgpu backend, and the AMD driver that the virtual GPU runs.
there /usr/share/vulkan/icd.d/*radeon_icd*.json /usr/share/vulkan/icd.d/*lvp_icd*.json || install mesa-vulkan-drivers libvulkan1

# Unmodified programs for the virtual GPU: Mesa's AMD drivers, and piglit's tests.
lib=/usr/lib/x86_64-linux-gnu
there -d $lib/piglit $lib/dri/radeonsi_dri.so $lib/libEGL.so.1 || install piglit libgl1-mesa-dri libegl1 libgbm1
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"

# llvm-mc is there now: tests that need it must not pass without it.
export GUESTWAVE_REQUIRE_LLVM=1

# The same random inputs in every run, so that a failure belongs to the change at hand; longer runs are made by hand with other seeds.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-2026}"

step() {
    echo "== $*"
    "$@"
}

step cargo fmt --all --check
step cargo clippy --workspace --all-targets --locked -- -D warnings
if cargo nextest --version >/dev/null 2>&1; then
    step cargo nextest run --workspace --locked
    step cargo test --workspace --doc --locked
else
    step cargo test --workspace --locked
fi
