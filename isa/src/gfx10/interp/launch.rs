//! What a group starts with and what it leaves.

use super::wave::Wave;
use crate::gfx10::{Target, WaveSize};

/// The program of a group and the modes it starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramInfo {
    /// Instruction set.
    pub target: Target,
    /// Guest address of the first instruction, a multiple of 4.
    pub address: u64,
    /// Lanes of a wave.
    pub wave_size: WaveSize,
    /// First value of the MODE register: FP_ROUND in 3:0, FP_DENORM in 7:4, DX10_CLAMP in bit 8, IEEE in bit 9.
    pub mode: u32,
    /// Scratch bytes of each lane, which `scratch_*` and flat accesses to the private aperture reach.
    pub scratch_bytes: u32,
    /// Where flat addresses mean LDS and scratch.
    pub apertures: Apertures,
    /// GB_ADDR_CONFIG of the device, which the layouts of tiled images depend on.
    pub addr_config: u32,
}

/// Flat addresses that do not mean global memory. Each aperture is 4 GiB long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apertures {
    /// Base of the shared aperture (LDS).
    pub shared: u64,
    /// Base of the private aperture (scratch).
    pub private: u64,
}

impl Default for Apertures {
    /// The bases that the amdgpu kernel driver programs for GFX10 processes.
    fn default() -> Self {
        Apertures { shared: 0x2000_0000_0000_0000, private: 0x1000_0000_0000_0000 }
    }
}

/// The first registers of one wave; all that is not given is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaveInit {
    /// SGPRs from s0 on, at most 106.
    pub sgprs: Vec<u32>,
    /// VGPRs from v0 on, each with one word a lane; at most 256 of at most 64.
    pub vgprs: Vec<Vec<u32>>,
    /// EXEC; bits past the wave's lanes are ignored.
    pub exec: u64,
    /// M0.
    pub m0: u32,
}

/// What a group did besides its stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupResult {
    /// One for each [`WaveInit`], in the same order.
    pub waves: Vec<WaveOutcome>,
    /// Instructions that the waves executed together.
    pub instructions: u64,
    /// Mnemonics of executed instructions whose result public documents leave open within an error bound, sorted.
    pub inexact: Vec<&'static str>,
}

/// What one wave did besides its stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaveOutcome {
    /// Its exports, in program order.
    pub exports: Vec<Export>,
    /// Its messages, in program order.
    pub messages: Vec<Message>,
    /// Its registers at the end.
    pub last: Option<Wave>,
}

/// One export instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// Target, 0-63.
    pub target: u8,
    /// Enabled components.
    pub en: u8,
    /// Two 16-bit values a register.
    pub compr: bool,
    /// Last of its kind.
    pub done: bool,
    /// EXEC is the valid mask.
    pub vm: bool,
    /// EXEC at the export.
    pub exec: u64,
    /// Four registers for each lane of the wave; components not enabled and inactive lanes are 0.
    pub values: Vec<[u32; 4]>,
}

/// One `s_sendmsg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// SIMM16: the message id and its operation.
    pub simm16: u16,
    /// M0 at the message.
    pub m0: u32,
    /// EXEC at the message.
    pub exec: u64,
}
