//! A thread: its registers, its channels, and its way through the program.

use super::super::decode::decode;
use super::super::error::Refusal;
use super::super::inst::{AccessMode, Inst};
use super::super::table::Kind;
use super::operand::{Element, Registers};
use super::urb::{Entry, send};
use super::{alu, flow};

/// Channels of a thread.
pub(super) const CHANNELS: u32 = 8;
/// General registers.
const REGISTERS: u64 = 128;

/// How MAD rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mad {
    /// Once, after the sum.
    #[default]
    Fused,
    /// After the product and after the sum.
    Separate,
}

/// A thread of two vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexLaunch<'a> {
    /// The program, from its first instruction on; may reach past its end.
    pub code: &'a [u8],
    /// First register of the constants, which the attributes follow.
    pub first_register: u32,
    /// Constants, eight dwords a register.
    pub constants: &'a [[u32; 8]],
    /// The attributes of either vertex; `None` for a second one that does not run.
    pub attributes: [Option<&'a [[u32; 4]]>; 2],
    /// The attributes that are handed over: first, and how many.
    pub read: (usize, usize),
    /// Slots of a vertex's URB entry.
    pub slots: usize,
    /// How MAD rounds.
    pub mad: Mad,
    /// Instructions that the thread may execute.
    pub steps: u64,
}

/// Runs a vertex program on two vertices and gives their URB entries.
///
/// # Errors
/// An instruction or message that is not run, or a program that does not end.
pub fn vertex(launch: &VertexLaunch<'_>) -> Result<[Vec<[u32; 4]>; 2], Refusal> {
    let mut thread = Thread::new(launch)?;
    let mut pc = 0;
    for _ in 0..launch.steps {
        let inst = decode(launch.code, pc)?;
        thread.wake(pc);
        match thread.step(&inst)? {
            Some(next) => pc = thread.nearest(next),
            None => return Ok(thread.entries),
        }
    }
    Err(Refusal::Budget { pc, steps: launch.steps })
}

/// A thread at work.
pub(super) struct Thread {
    registers: Registers,
    entries: [Entry; 2],
    /// Channels that the launch started, one bit each.
    started: u8,
    /// Where each channel that is off waits.
    pub(super) waits: [Option<u32>; CHANNELS as usize],
    /// f0.0, f0.1, f1.0 and f1.1, of which a thread of eight channels uses eight bits each.
    flags: [u8; 4],
    mad: Mad,
}

/// A channel's result, and its flag where the instruction sets one.
type Outcome = (Element, Option<bool>);

impl Thread {
    fn new(launch: &VertexLaunch<'_>) -> Result<Thread, Refusal> {
        let entry = |attributes: Option<&[[u32; 4]]>| {
            let mut entry = attributes.unwrap_or(&[]).to_vec();
            entry.resize(launch.slots, [0; 4]);
            entry
        };
        Ok(Thread {
            registers: payload(launch)?,
            entries: launch.attributes.map(entry),
            started: if launch.attributes[1].is_some() { 0xff } else { 0x0f },
            waits: [None; CHANNELS as usize],
            flags: [0; 4],
            mad: launch.mad,
        })
    }

    /// Channels that run, one bit each.
    pub(super) fn active(&self) -> u8 {
        let off = (0..CHANNELS).filter(|c| self.waits[*c as usize].is_some()).fold(0, |m, c| m | 1 << c);
        self.started & !off
    }

    /// A flag register's bits.
    pub(super) fn flag(&self, (register, sub): (u8, u8)) -> u8 {
        self.flags[usize::from(register & 1) * 2 + usize::from(sub & 1)]
    }

    /// Turns on what waits for the instruction at `pc`.
    fn wake(&mut self, pc: u32) {
        self.waits.iter_mut().filter(|wait| **wait == Some(pc)).for_each(|wait| *wait = None);
    }

    /// `pc`, or where a channel waits if none runs there.
    fn nearest(&self, pc: u32) -> u32 {
        let awake = self.active() != 0 || self.waits.contains(&Some(pc));
        match self.waits.iter().flatten().filter(|wait| **wait > pc).min() {
            Some(wait) if !awake => *wait,
            _ => pc,
        }
    }

    /// Carries one instruction out; gives where the thread goes on, `None` at its end.
    fn step(&mut self, inst: &Inst) -> Result<Option<u32>, Refusal> {
        let next = Some(inst.pc + inst.bytes);
        match inst.row.kind {
            Kind::Refused(reason) => {
                Err(Refusal::Operation { pc: inst.pc, mnemonic: inst.row.mnemonic, reason })
            }
            Kind::Flow => flow::branch(self, inst).map(Some),
            Kind::Send => Ok(if send(inst, &self.registers, &mut self.entries)? { None } else { next }),
            Kind::Nothing => Ok(next),
            Kind::Alu | Kind::Dot => self.arithmetic(inst).map(|()| next),
        }
    }

    /// Computes every channel, then stores: sources are read before any result is written.
    fn arithmetic(&mut self, inst: &Inst) -> Result<(), Refusal> {
        let channels = u32::from(inst.channels);
        if channels > CHANNELS {
            return Err(Refusal::Field { pc: inst.pc, field: "execution size", value: channels });
        }
        let predicate = flow::predicate(self, inst)?;
        let enabled = if inst.no_mask { u8::MAX } else { self.active() };
        let enabled = if inst.row.mnemonic == "sel" { enabled } else { enabled & predicate };
        let written =
            |channel: u32| inst.access == AccessMode::Align1 || inst.dst.mask >> (channel % 4) & 1 != 0;
        let mut outcomes = Vec::new();
        for channel in (0..channels).filter(|c| enabled >> c & 1 != 0 && written(*c)) {
            outcomes.push((channel, self.channel(inst, channel, predicate >> channel & 1 != 0)?));
        }
        for (channel, (value, flag)) in outcomes {
            if let Some(flag) = flag {
                self.set_flag(inst, channel, flag);
            }
            self.registers.store(inst, channel, value)?;
        }
        Ok(())
    }

    fn channel(&self, inst: &Inst, channel: u32, chosen: bool) -> Result<Outcome, Refusal> {
        let mut src = [Element::Integer(0); 3];
        for (element, source) in src.iter_mut().zip(&inst.src).take(usize::from(inst.row.sources)) {
            *element = self.registers.source(inst, source, channel)?;
        }
        let value = match (inst.row.mnemonic, inst.condition) {
            ("sel", Some(condition)) => alu::select(inst, condition, src[0], src[1])?,
            ("sel", None) if chosen => src[0],
            ("sel", None) => src[1],
            ("cmp" | "cmpn", Some(condition)) => {
                let holds = alu::holds(inst, condition, src[0], src[1])?;
                return Ok((Element::Integer(if holds { -1 } else { 0 }), Some(holds)));
            }
            ("cmp" | "cmpn", None) => {
                return Err(Refusal::Operand { pc: inst.pc, what: "a comparison without a condition" });
            }
            (_, condition) => {
                let value = alu::converted(inst, self.value(inst, channel, &src)?);
                let flag = condition.map(|c| alu::holds(inst, c, value, zero(value))).transpose()?;
                return Ok((value, flag));
            }
        };
        Ok((alu::converted(inst, value), None))
    }

    fn value(&self, inst: &Inst, channel: u32, src: &[Element; 3]) -> Result<Element, Refusal> {
        if inst.row.kind != Kind::Dot {
            return alu::compute(inst, src, self.mad);
        }
        let first = channel / 4 * 4;
        let vector = |source: usize| -> Result<[Element; 4], Refusal> {
            let mut vector = [Element::Integer(0); 4];
            for (element, channel) in vector.iter_mut().zip(first..) {
                *element = self.registers.source(inst, &inst.src[source], channel)?;
            }
            Ok(vector)
        };
        alu::dot(inst, vector(0)?, vector(1)?)
    }

    fn set_flag(&mut self, inst: &Inst, channel: u32, value: bool) {
        let flag = &mut self.flags[usize::from(inst.flag.0 & 1) * 2 + usize::from(inst.flag.1 & 1)];
        *flag = *flag & !(1 << channel) | u8::from(value) << channel;
    }
}

/// The registers that a thread starts with: the URB handles, constants, and the attributes of both vertices.
fn payload(launch: &VertexLaunch<'_>) -> Result<Registers, Refusal> {
    let (first, count) = launch.read;
    let needed = u64::from(launch.first_register) + launch.constants.len() as u64 + count as u64;
    if needed > REGISTERS {
        return Err(Refusal::Payload { pc: 0, registers: u32::try_from(needed).unwrap_or(u32::MAX) });
    }
    let mut file = Registers::new();
    file.set_dword(0, 1, 1);
    let mut register = launch.first_register as usize;
    for constants in launch.constants {
        constants.iter().enumerate().for_each(|(i, word)| file.set_dword(register, i, *word));
        register += 1;
    }
    for n in first..first + count {
        for (vertex, attributes) in launch.attributes.iter().enumerate() {
            let attribute = attributes.and_then(|a| a.get(n)).copied().unwrap_or_default();
            attribute
                .iter()
                .enumerate()
                .for_each(|(c, word)| file.set_dword(register, 4 * vertex + c, *word));
        }
        register += 1;
    }
    Ok(file)
}

/// The zero of an element's kind.
fn zero(of: Element) -> Element {
    match of {
        Element::Float(_) => Element::Float(0),
        Element::Integer(_) => Element::Integer(0),
    }
}
