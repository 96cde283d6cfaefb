//! Functions that modules call: each is made at its first use.

use std::collections::HashMap;

use naga::{AtomicFunction, Function, GlobalVariable, Handle, Module, Span, Type};

use super::func::{Ex, Func};
use super::parts::{self, Buffers, Types};
use super::{HostCaps, float, fma64, local, pages, report};
use crate::program::Program;

/// A function that modules may have. Addresses are two `u32`, low half first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Helper {
    /// (flags, site, low, high, size): notes what happened to the launch.
    Blame,
    /// (low, high, site, size): notes a page that is absent.
    Missed,
    /// (low, high) -> byte of the arena, or none if that byte is absent.
    Walk,
    /// (low, high, bytes, site, size) -> unit.
    LoadUnit,
    /// (low, high, bytes, value, site, size, check).
    StoreUnit,
    /// (arena byte, low, high, site, size) -> word of its marks, or none (and a note) if there are none yet.
    MarkWord,
    /// (word, bits, check, site): marks bytes as stored; with `check`, notes if they were stored before.
    Mark,
    /// (word, mask, bits): stores some bits of a word of the arena.
    Merge,
    /// (byte, bytes) -> unit of the tables.
    TableUnit,
    /// (byte, bytes) -> unit of LDS.
    LdsLoad,
    /// (byte, bytes, value).
    LdsStore,
    /// (word, mask, bits): stores some bits of a word of LDS.
    LdsMerge,
    /// (first word, byte, bytes) -> unit of scratch.
    ScratchLoad,
    /// (first word, byte, bytes, value).
    ScratchStore,
    /// (a, b, c) -> a * b + c of f32.
    Fma32,
    /// (a, b, c) -> a * b + c of f64.
    Fma64,
}

/// How a helper looks from outside and how its body is made.
struct Signature {
    name: &'static str,
    /// How many `u32` (or `u64`) it takes.
    arguments: u32,
    /// Whether it gives one.
    gives: bool,
    /// Whether it takes and gives `u64`.
    wide: bool,
    body: fn(&mut Maker<'_>, &[Ex]),
}

impl Helper {
    fn signature(self) -> Signature {
        let (name, arguments, gives, body): (_, _, _, fn(&mut Maker<'_>, &[Ex])) = match self {
            Helper::Blame => ("blame", 5, false, report::blame),
            Helper::Missed => ("missed", 4, false, report::missed),
            Helper::Walk => ("walk", 2, true, pages::walk),
            Helper::LoadUnit => ("load_unit", 5, true, pages::load_unit),
            Helper::StoreUnit => ("store_unit", 7, false, pages::store_unit),
            Helper::MarkWord => ("mark_word", 5, true, pages::mark_word),
            Helper::Mark => ("mark", 4, false, pages::mark),
            Helper::Merge => ("merge", 3, false, |m, a| pages::merge(m, m.buffers.arena, a)),
            Helper::TableUnit => ("table_unit", 2, true, local::table_unit),
            Helper::LdsLoad => ("lds_load", 2, true, local::lds_load),
            Helper::LdsStore => ("lds_store", 3, false, local::lds_store),
            Helper::LdsMerge => ("lds_merge", 3, false, |m, a| {
                if let Some(lds) = m.lds {
                    pages::merge(m, lds, a);
                }
            }),
            Helper::ScratchLoad => ("scratch_load", 3, true, local::scratch_load),
            Helper::ScratchStore => ("scratch_store", 4, false, local::scratch_store),
            Helper::Fma32 => ("fma32", 3, true, |m, a| {
                let result = float::fma32_body(&mut m.f, [a[0], a[1], a[2]], m.widens);
                m.f.ret(Some(result));
            }),
            Helper::Fma64 => ("fma64", 3, true, |m, a| fma64::body(&mut m.f, [a[0], a[1], a[2]])),
        };
        Signature { name, arguments, gives, wide: self == Helper::Fma64, body }
    }
}

/// The helpers of a module and what they share.
pub(super) struct Helpers {
    made: HashMap<Helper, Handle<Function>>,
    types: Types,
    buffers: Buffers,
    /// LDS, if the program has any.
    pub(super) lds: Option<Handle<GlobalVariable>>,
    lds_bytes: u32,
    scratch_bytes: u32,
    lanes: u32,
    /// Whether the host widens f32 exactly.
    widens: bool,
    /// Iterations of loops that are none of the program's, and of loops over lanes.
    pub(super) spins: Handle<GlobalVariable>,
}

/// A helper being made.
pub(super) struct Maker<'a> {
    pub(super) f: Func,
    pub(super) types: Types,
    pub(super) buffers: Buffers,
    pub(super) lds: Option<Handle<GlobalVariable>>,
    pub(super) lds_bytes: u32,
    pub(super) scratch_bytes: u32,
    pub(super) lanes: u32,
    pub(super) widens: bool,
    pub(super) spins: Handle<GlobalVariable>,
    helpers: &'a mut Helpers,
    module: &'a mut Module,
}

impl Helpers {
    pub(super) fn new(
        module: &mut Module,
        types: Types,
        buffers: Buffers,
        program: &Program,
        caps: &HostCaps,
    ) -> Self {
        let words = program.lds_bytes.div_ceil(4);
        Helpers {
            made: HashMap::new(),
            types,
            buffers,
            lds: (words != 0).then(|| parts::shared(module, "lds", types.atomic, words)),
            lds_bytes: program.lds_bytes,
            scratch_bytes: program.scratch_bytes,
            lanes: u32::from(program.wave_lanes),
            widens: caps.floats.widen32,
            spins: parts::private(module, "spins", types.u32),
        }
    }

    /// The function, made if it is new.
    pub(super) fn get(&mut self, module: &mut Module, helper: Helper) -> Handle<Function> {
        if let Some(made) = self.made.get(&helper) {
            return *made;
        }
        let signature = helper.signature();
        let ty: Handle<Type> = if signature.wide { self.types.u64 } else { self.types.u32 };
        let arguments = vec![ty; signature.arguments as usize];
        let mut maker = Maker {
            f: Func::new(signature.name, &arguments, signature.gives.then_some(ty)),
            types: self.types,
            buffers: self.buffers,
            lds: self.lds,
            lds_bytes: self.lds_bytes,
            scratch_bytes: self.scratch_bytes,
            lanes: self.lanes,
            widens: self.widens,
            spins: self.spins,
            helpers: self,
            module,
        };
        let arguments: Vec<Ex> = (0..signature.arguments).map(|i| maker.f.arg(i)).collect();
        (signature.body)(&mut maker, &arguments);
        let function = maker.f.finish();
        let made = module.functions.append(function, Span::UNDEFINED);
        self.made.insert(helper, made);
        made
    }
}

impl Maker<'_> {
    pub(super) fn call(&mut self, helper: Helper, arguments: &[Ex]) {
        let function = self.helpers.get(self.module, helper);
        self.f.call(function, arguments.to_vec());
    }

    pub(super) fn value(&mut self, helper: Helper, arguments: &[Ex]) -> Ex {
        let function = self.helpers.get(self.module, helper);
        self.f.call_value(function, arguments.to_vec())
    }

    pub(super) fn launch_word(&mut self, index: u32) -> Ex {
        launch_word(&mut self.f, &self.buffers, index)
    }
}

/// Word `index` of the launch block.
pub(super) fn launch_word(f: &mut Func, buffers: &Buffers, index: u32) -> Ex {
    let block = f.global(buffers.launch);
    let four = f.field(block, index / 4);
    let word = f.field(four, index % 4);
    f.load(word)
}

/// Compare-and-swap of a `u32`; gives the old value and whether it was swapped.
pub(super) fn compare_swap(
    f: &mut Func,
    types: &Types,
    array: Handle<GlobalVariable>,
    index: Ex,
    (expected, new): (Ex, Ex),
) -> (Ex, Ex) {
    let fun = AtomicFunction::Exchange { compare: Some(expected) };
    let result = f.atomic(array, index, fun, new, types.swapped);
    (f.field(result, 0), f.field(result, 1))
}

/// Counts iterations that are none of the program's.
pub(super) fn spin(f: &mut Func, spins: Handle<GlobalVariable>, by: u32) {
    let pointer = f.global(spins);
    let before = f.load(pointer);
    let after = f.add_u32(before, by);
    f.store(pointer, after);
}
