//! What ends a fragment program.

use guestwave_cp::mali::job::environment::register;
use guestwave_isa::mali::valhall::{Flow, Inst, Op, Source};

use super::Refusal;
use super::emit::{Emit, Lower};
use super::resource::env;
use crate::program::{BinOp, Stmt, UnOp, Value, Width};
use crate::ways::Ways;

/// Bytes of the colour buffer that a thread has, and that a render target has of them.
const THREAD_BYTES: u64 = 128;
const TARGET_BYTES: u64 = 16;

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Lower)] = &[(Op::Atest, alpha_test), (Op::Blend, blend)];

fn alpha_test(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let coverage = e.word(inst, 0)?;
    e.set_staged(inst, &[coverage]);
    Ok(())
}

/// Stores the staging registers as the render target's colour, if colours are wanted.
fn blend(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let Source::Special(special, 0) = inst.source(0) else {
        return Err(e.refuse(inst, "a blend descriptor in registers"));
    };
    let target = special.strip_prefix("blend_descriptor_").and_then(|n| n.parse::<u64>().ok());
    let target = target.ok_or(e.refuse(inst, "a special value that no launch gives"))?;
    let colours = e.environment_pair(env::COLOURS).value;
    let words: Vec<Value> = (0..inst.staging_count().min(4)).map(|i| e.staged(inst, i)).collect();
    let number = e.register(register::NUMBER);
    let wanted = e.b.with_constant(BinOp::Ne, colours, 0);
    e.choose(
        wanted,
        |e| {
            let number = e.b.un(UnOp::Extend, number);
            let offset = e.b.with_constant(BinOp::Mul, number, THREAD_BYTES);
            let at = e.b.bin(BinOp::Add, colours, offset);
            let at = e.b.with_constant(BinOp::Add, at, target * TARGET_BYTES);
            if !words.is_empty() {
                e.store_units(at, &words, (Width::W32, words.len()), inst.offset);
            }
            Ok(())
        },
        |_| Ok(()),
    )?;
    if inst.flow() == Flow::End {
        e.b.push(Stmt::Return);
    }
    Ok(())
}
