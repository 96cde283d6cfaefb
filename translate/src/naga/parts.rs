//! The types and global variables that every module has.

use naga::{
    AddressSpace, ArraySize, GlobalVariable, Handle, MemoryDecorations, Module, ResourceBinding, Scalar,
    Span, StorageAccess, Type, TypeInner, VectorSize,
};

use super::layout::{LAUNCH_BYTES, binding};

/// Scalar types and those built of them.
#[derive(Clone, Copy)]
pub(super) struct Types {
    pub(super) u32: Handle<Type>,
    pub(super) u64: Handle<Type>,
    pub(super) bool: Handle<Type>,
    pub(super) vec3: Handle<Type>,
    pub(super) vec4: Handle<Type>,
    pub(super) atomic: Handle<Type>,
    /// Result of a compare-and-swap of a `u32`.
    pub(super) swapped: Handle<Type>,
    /// Result of a compare-and-swap of a `u64`.
    pub(super) swapped64: Handle<Type>,
}

/// Buffers.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    pub(super) launch: Handle<GlobalVariable>,
    pub(super) tables: Handle<GlobalVariable>,
    pub(super) pages: Handle<GlobalVariable>,
    pub(super) arena: Handle<GlobalVariable>,
    pub(super) reads: Handle<GlobalVariable>,
    pub(super) marks: Handle<GlobalVariable>,
    pub(super) status: Handle<GlobalVariable>,
    pub(super) spill: Handle<GlobalVariable>,
    pub(super) arena64: Option<Handle<GlobalVariable>>,
    pub(super) fours: Handle<GlobalVariable>,
}

pub(super) fn ty(module: &mut Module, inner: TypeInner) -> Handle<Type> {
    module.types.insert(Type { name: None, inner }, Span::UNDEFINED)
}

impl Types {
    pub(super) fn new(module: &mut Module) -> Self {
        let swap = naga::PredeclaredType::AtomicCompareExchangeWeakResult;
        Types {
            u32: ty(module, TypeInner::Scalar(Scalar::U32)),
            u64: ty(module, TypeInner::Scalar(Scalar::U64)),
            bool: ty(module, TypeInner::Scalar(Scalar::BOOL)),
            vec3: ty(module, TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::U32 }),
            vec4: ty(module, TypeInner::Vector { size: VectorSize::Quad, scalar: Scalar::U32 }),
            atomic: ty(module, TypeInner::Atomic(Scalar::U32)),
            swapped: module.generate_predeclared_type(swap(Scalar::U32)),
            swapped64: module.generate_predeclared_type(swap(Scalar::U64)),
        }
    }
}

/// An array of `base`, each `stride` bytes; without `count`, as long as its buffer.
pub(super) fn array(
    module: &mut Module,
    base: Handle<Type>,
    stride: u32,
    count: Option<u32>,
) -> Handle<Type> {
    let size = match count.and_then(std::num::NonZeroU32::new) {
        Some(count) => ArraySize::Constant(count),
        None => ArraySize::Dynamic,
    };
    ty(module, TypeInner::Array { base, size, stride })
}

fn global(
    module: &mut Module,
    name: &str,
    space: AddressSpace,
    at: Option<u32>,
    ty: Handle<Type>,
) -> Handle<GlobalVariable> {
    let variable = GlobalVariable {
        name: Some(name.into()),
        space,
        binding: at.map(|binding| ResourceBinding { group: 0, binding }),
        ty,
        init: None,
        memory_decorations: MemoryDecorations::empty(),
    };
    module.global_variables.append(variable, Span::UNDEFINED)
}

/// An array in workgroup memory.
pub(super) fn shared(
    module: &mut Module,
    name: &str,
    base: Handle<Type>,
    count: u32,
) -> Handle<GlobalVariable> {
    let ty = array(module, base, 4, Some(count));
    global(module, name, AddressSpace::WorkGroup, None, ty)
}

/// A variable of each invocation.
pub(super) fn private(module: &mut Module, name: &str, ty: Handle<Type>) -> Handle<GlobalVariable> {
    global(module, name, AddressSpace::Private, None, ty)
}

impl Buffers {
    /// `settled`: what is bound to be read only nobody stores to in any other way.
    pub(super) fn new(module: &mut Module, types: &Types, atomics64: bool, settled: bool) -> Self {
        let block = array(module, types.vec4, 16, Some(LAUNCH_BYTES / 16));
        let fours = array(module, types.vec4, 16, None);
        let words = array(module, types.u32, 4, None);
        let atomics = array(module, types.atomic, 4, None);
        let read = AddressSpace::Storage { access: StorageAccess::LOAD };
        let write = AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE };
        let mut buffer = |name, space, at, ty| global(module, name, space, Some(at), ty);
        let mut buffers = Buffers {
            launch: buffer("launch", AddressSpace::Uniform, binding::LAUNCH, block),
            tables: buffer("tables", read, binding::TABLES, words),
            pages: buffer("pages", read, binding::PAGES, words),
            arena: buffer("arena", write, binding::ARENA, atomics),
            reads: buffer("reads", if settled { read } else { write }, binding::READS, words),
            marks: buffer("marks", write, binding::MARKS, atomics),
            status: buffer("status", write, binding::STATUS, atomics),
            spill: buffer("spill", write, binding::SPILL, words),
            arena64: None,
            fours: buffer("fours", write, binding::FOURS, fours),
        };
        if atomics64 {
            let atomic = ty(module, TypeInner::Atomic(Scalar::U64));
            let atomics = array(module, atomic, 8, None);
            buffers.arena64 = Some(global(module, "arena64", write, Some(binding::ARENA64), atomics));
        }
        buffers
    }
}

/// Bytes of workgroup memory that a module's variables take.
pub(super) fn shared_bytes(module: &Module) -> u32 {
    let variables = module.global_variables.iter().filter(|(_, v)| v.space == AddressSpace::WorkGroup);
    variables.map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx())).sum()
}
