//! MI_MATH: 64-bit arithmetic on the command streamer's registers.

use super::Refusal;
use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};
use super::registers::reg::CS_GPR;

/// The ALU: two sources, an accumulator and two flags, which live as long as the packet.
#[derive(Default)]
struct Alu {
    sources: [u64; 2],
    accumulator: u64,
    zero: bool,
    carry: bool,
}

/// MI_MATH: one ALU instruction a dword.
pub(crate) fn math(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let mut alu = Alu::default();
    let mut registers: [u64; 16] = std::array::from_fn(|n| cx.state.registers.get64(CS_GPR + 8 * n as u32));
    for instruction in packet.tail(field::MATH::INSTRUCTION) {
        let done = alu.step(*instruction, &mut registers);
        done.ok_or(Refusal::MathInstruction { instruction: *instruction })?;
    }
    let halves = registers.iter().zip(0..).flat_map(|(value, n)| {
        let address = CS_GPR + 8 * n;
        [(address, *value as u32), (address + 4, (*value >> 32) as u32)]
    });
    cx.write_registers(packet.at, halves)?;
    Ok(Flow::Next)
}

/// Operations on the two sources: opcode, and what it makes of them with its carry.
type Arithmetic = (u32, fn(u64, u64) -> (u64, bool));
const ARITHMETIC: [Arithmetic; 5] = [
    (0x100, u64::overflowing_add),
    (0x101, u64::overflowing_sub),
    (0x102, |a, b| (a & b, false)),
    (0x103, |a, b| (a | b, false)),
    (0x104, |a, b| (a ^ b, false)),
];

impl Alu {
    /// One instruction; `None` where it has no meaning.
    fn step(&mut self, instruction: u32, registers: &mut [u64; 16]) -> Option<()> {
        let (opcode, first, second) = (instruction >> 20, instruction >> 10 & 0x3ff, instruction & 0x3ff);
        if let Some((_, operation)) = ARITHMETIC.iter().find(|(code, _)| *code == opcode) {
            let (value, carry) = operation(self.sources[0], self.sources[1]);
            (self.accumulator, self.carry, self.zero) = (value, carry, value == 0);
            return Some(());
        }
        match opcode {
            0x000 => {}
            0x080 => *self.source(first)? = self.read(second, registers)?,
            0x480 => *self.source(first)? = !self.read(second, registers)?,
            0x081 => *self.source(first)? = 0,
            0x481 => *self.source(first)? = u64::MAX,
            0x180 => *registers.get_mut(first as usize)? = self.read(second, registers)?,
            0x580 => *registers.get_mut(first as usize)? = !self.read(second, registers)?,
            _ => return None,
        }
        Some(())
    }

    fn source(&mut self, operand: u32) -> Option<&mut u64> {
        self.sources.get_mut(operand.checked_sub(0x20)? as usize)
    }

    fn read(&self, operand: u32, registers: &[u64; 16]) -> Option<u64> {
        let flag = |set: bool| if set { u64::MAX } else { 0 };
        match operand {
            0x31 => Some(self.accumulator),
            0x32 => Some(flag(self.zero)),
            0x33 => Some(flag(self.carry)),
            _ => registers.get(operand as usize).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRCA: u32 = 0x20;
    const SRCB: u32 = 0x21;

    fn instruction(opcode: u32, first: u32, second: u32) -> u32 {
        opcode << 20 | first << 10 | second
    }

    fn run(registers: &mut [u64; 16], instructions: &[u32]) -> Option<()> {
        let mut alu = Alu::default();
        instructions.iter().try_for_each(|i| alu.step(*i, registers))
    }

    #[test]
    fn sums_differences_and_flags_are_stored() {
        let mut registers = [0; 16];
        (registers[1], registers[2]) = (u64::MAX, 1);
        let loads = [instruction(0x080, SRCA, 1), instruction(0x080, SRCB, 2)];
        let add = [instruction(0x100, 0, 0), instruction(0x180, 3, 0x31), instruction(0x180, 4, 0x33)];
        let sub = [instruction(0x101, 0, 0), instruction(0x180, 5, 0x31), instruction(0x580, 6, 0x32)];
        run(&mut registers, &[&loads[..], &add, &sub].concat()).unwrap();
        assert_eq!(registers[3..7], [0, u64::MAX, u64::MAX - 1, u64::MAX]);
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for bad in [instruction(0x7ff, 0, 0), instruction(0x080, 5, 0), instruction(0x180, 16, 0x31)] {
            assert_eq!(run(&mut [0; 16], &[bad]), None);
        }
    }
}
