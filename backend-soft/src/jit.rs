//! Cranelift at work: the host's code generator, and programs turned into functions of this process.

use std::mem::offset_of;

use cranelift_codegen::ir::{
    AbiParam, Endianness, Function, InstBuilder, MemFlagsData, Signature, Type, UserFuncName, types,
};
use cranelift_codegen::isa::{Builder, CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context as Codegen};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};

use crate::backend::SoftOptions;
use crate::lower::{Context, Helpers, Host, Lowered, lower};
use crate::plan::{Plan, Tail};
use crate::raw::{ACCESS, Code, HELPERS, Library};

/// Flags of the code generator. Frames are probed, so that a program with many values cannot step over a stack's guard.
const FLAGS: &[(&str, &str)] = &[
    ("is_pic", "false"),
    ("use_colocated_libcalls", "false"),
    ("unwind_info", "false"),
    ("enable_probestack", "true"),
    ("probestack_strategy", "inline"),
    ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
];

/// How much is done for good code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// So little that long programs are compiled in a few milliseconds: all accesses are left to helpers.
    Little,
    /// What makes fast code.
    Much,
}

impl Effort {
    /// More flags of the code generator.
    fn flags(self) -> [(&'static str, &'static str); 2] {
        match self {
            Effort::Little => [("opt_level", "none"), ("regalloc_algorithm", "single_pass")],
            Effort::Much => [("opt_level", "speed"), ("regalloc_algorithm", "backtracking")],
        }
    }
}

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JitError {
    /// Cranelift does not know this host.
    #[error("Cranelift cannot generate code for this host: {0}")]
    Host(String),
    /// Cranelift refused the function.
    #[error("Cranelift refused the function: {}", detail(.0))]
    Module(#[from] Box<ModuleError>),
}

/// What was refused in particular, where Cranelift's verifier says.
fn detail(error: &ModuleError) -> String {
    match error {
        ModuleError::Compilation(CodegenError::Verifier(errors)) => errors.to_string(),
        other => other.to_string(),
    }
}

/// A program's code and what belongs to it.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) code: Code,
    pub(crate) lowered: Lowered,
    /// Bytes of a wave's frame.
    pub(crate) frame_bytes: usize,
    /// The first bytes of a frame, 0 when a wave starts.
    pub(crate) zeroed_bytes: usize,
    /// Barriers.
    pub(crate) resumes: u32,
    /// What tells which lanes at a wave's end do nothing.
    pub(crate) tail: Option<Tail>,
}

/// The code generator and all code that it has made, which lives as long as it.
pub(crate) struct Jit {
    library: Library,
    host: Host,
    helpers: Vec<FuncId>,
    gate: FuncId,
    codegen: Codegen,
    contexts: FunctionBuilderContext,
    functions: u32,
}

impl Jit {
    /// A generator for the CPU at hand, as far as `options` let it use what the CPU has.
    pub(crate) fn new(options: SoftOptions, effort: Effort) -> Result<Self, JitError> {
        let builder = cranelift_native::builder().map_err(|e| JitError::Host(e.to_owned()))?;
        Self::of(builder, options, effort)
    }

    /// A generator for a host that Cranelift knows by name, to look at its code only.
    #[cfg(feature = "other-hosts")]
    pub(crate) fn of_host(name: &str, options: SoftOptions, effort: Effort) -> Result<Self, JitError> {
        let builder = cranelift_codegen::isa::lookup_by_name(name);
        Self::of(builder.map_err(|e| JitError::Host(e.to_string()))?, options, effort)
    }

    fn of(builder: Builder, options: SoftOptions, effort: Effort) -> Result<Self, JitError> {
        let isa = finished(builder, effort)?;
        let host = Host {
            fma: options.native_fma && has_fma(&isa),
            vectors: options.vectors && has_vectors(&isa),
            signs: isa.name() == "x64",
            in_line: effort == Effort::Much,
            frontend: isa.frontend_config(),
        };
        log::debug!("backend-soft: {} with fused multiply-add {}", isa.triple(), host.fma);
        let pointer = isa.pointer_type();
        let convention = isa.default_call_conv();
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for helper in &HELPERS {
            builder.symbol(helper.name, helper.address.get());
        }
        let mut module = JITModule::new(builder);
        let helpers = declare(&mut module, pointer, convention)?;
        let (mut codegen, mut contexts) = (module.make_context(), FunctionBuilderContext::new());
        let gate = define_gate(&mut module, (pointer, convention), &mut codegen, &mut contexts)?;
        let library = Library::new(module);
        Ok(Jit { library, host, helpers, gate, codegen, contexts, functions: 0 })
    }

    /// What the host's code does by itself.
    pub(crate) fn host(&self) -> Host {
        self.host
    }

    /// Compiles a program.
    pub(crate) fn compile(&mut self, plan: &Plan<'_>) -> Result<Compiled, JitError> {
        let module = self.library.module();
        let pointer = module.isa().pointer_type();
        let signature = wave_signature(pointer, module.isa().default_call_conv());
        let name = format!("wave_{}", self.functions);
        self.functions += 1;
        let id = module.declare_function(&name, Linkage::Local, &signature).map_err(Box::new)?;
        let function = &mut self.codegen.func;
        *function = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), signature);
        let helpers = import(module, self.gate, &self.helpers, function);
        let lowered = lower(plan, self.host, helpers, function, &mut self.contexts);
        let defined = module.define_function(id, &mut self.codegen);
        module.clear_context(&mut self.codegen);
        defined.map_err(Box::new)?;
        module.finalize_definitions().map_err(Box::new)?;
        Ok(Compiled {
            code: self.library.code(id),
            lowered,
            frame_bytes: plan.frame.bytes as usize,
            zeroed_bytes: plan.frame.zeroed as usize,
            resumes: plan.resumes,
            tail: plan.tail,
        })
    }
}

impl std::fmt::Debug for Jit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jit").field("fma", &self.host.fma).field("functions", &self.functions).finish()
    }
}

fn finished(builder: Builder, effort: Effort) -> Result<OwnedTargetIsa, JitError> {
    let mut flags = settings::builder();
    for (name, value) in FLAGS.iter().chain(&effort.flags()) {
        flags.set(name, value).map_err(|e| JitError::Host(e.to_string()))?;
    }
    let finished = builder.finish(settings::Flags::new(flags));
    finished.map_err(|e: CodegenError| JitError::Host(e.to_string()))
}

/// Whether Cranelift compiles `fma` to an instruction here. Of the hosts that it knows, only x86-64 may lack one.
fn has_fma(isa: &OwnedTargetIsa) -> bool {
    isa.name() != "x64" || (has(isa, "has_fma") && has(isa, "has_avx"))
}

/// Whether four lanes at a time pay here: on x86-64 with SSE 4.2, and on aarch64, where bytes lie as vectors have them.
fn has_vectors(isa: &OwnedTargetIsa) -> bool {
    let x64 = isa.name() == "x64" && has(isa, "has_ssse3") && has(isa, "has_sse41") && has(isa, "has_sse42");
    (x64 || isa.name() == "aarch64") && isa.endianness() == Endianness::Little
}

fn has(isa: &OwnedTargetIsa, flag: &str) -> bool {
    isa.isa_flags().iter().any(|f| f.name == flag && f.as_bool() == Some(true))
}

/// `fn(context, frame) -> status`.
fn wave_signature(pointer: Type, convention: CallConv) -> Signature {
    signature(&[pointer, pointer], types::I32, convention)
}

fn signature(params: &[Type], result: Type, convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.push(AbiParam::new(result));
    signature
}

fn declare(module: &mut JITModule, pointer: Type, convention: CallConv) -> Result<Vec<FuncId>, JitError> {
    let declare = |helper: &crate::raw::Helper| {
        let params: Vec<Type> = helper.params.iter().map(|ty| ty.unwrap_or(pointer)).collect();
        let signature = signature(&params, helper.result, convention);
        Ok(module.declare_function(helper.name, Linkage::Import, &signature).map_err(Box::new)?)
    };
    HELPERS.iter().map(declare).collect()
}

/// Makes the function that calls a helper of accesses, keeps all registers, and leaves in the context whether it refused: `fn(context,
/// helper, site, address, valid, lane)`.
fn define_gate(
    module: &mut JITModule,
    (pointer, convention): (Type, CallConv),
    codegen: &mut Codegen,
    contexts: &mut FunctionBuilderContext,
) -> Result<FuncId, JitError> {
    let params: Vec<Type> = ACCESS.iter().map(|ty| ty.unwrap_or(pointer)).collect();
    let helper = signature(&params, types::I32, convention);
    let mut gate = Signature::new(CallConv::PreserveAll);
    gate.params = [&helper.params[..1], &[AbiParam::new(pointer)], &helper.params[1..]].concat();
    let id = module.declare_function("gate", Linkage::Local, &gate).map_err(Box::new)?;
    codegen.func = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), gate);
    let mut b = FunctionBuilder::new(&mut codegen.func, contexts);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let helper = b.import_signature(helper);
    let given = b.block_params(block).to_vec();
    let call = b.ins().call_indirect(helper, given[1], &[&given[..1], &given[2..]].concat());
    let refused = b.inst_results(call)[0];
    b.ins().store(MemFlagsData::trusted(), refused, given[0], offset_of!(Context, refused) as i32);
    b.ins().return_(&[]);
    b.finalize(module.isa().frontend_config());
    module.define_function(id, codegen).map_err(Box::new)?;
    module.clear_context(codegen);
    Ok(id)
}

/// The helpers as `function` may call them, in the order of [`HELPERS`].
fn import(module: &mut JITModule, gate: FuncId, helpers: &[FuncId], function: &mut Function) -> Helpers {
    let gate = module.declare_func_in_func(gate, function);
    let mut at = |i: usize| module.declare_func_in_func(helpers[i], function);
    Helpers {
        gate,
        load: at(0),
        store: at(1),
        atomic: at(2),
        load_quad: at(3),
        store_quad: at(4),
        atomic_quad: at(5),
        fma_f32: at(6),
        fma_f64: at(7),
        exp2: at(8),
        log2: at(9),
        sin: at(10),
        cos: at(11),
    }
}
