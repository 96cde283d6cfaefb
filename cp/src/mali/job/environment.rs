//! What a launch of a Valhall program gives: words for all threads, and registers for each.
//!
//! An [`ExactDispatch`](crate::ExactDispatch) of [`Isa::ValhallV9`](crate::Isa::ValhallV9) carries the environment in its SGPR
//! rules, in the order of [`Environment::words`], and the threads' registers in its VGPR rules, by the numbers of [`register`].

/// Environment words.
pub const WORDS: usize = 12;

/// What is the same for every thread of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Guest address of the uniforms (FAU).
    pub fau: u64,
    /// Words of them.
    pub fau_words: u32,
    /// Guest address of the resource table.
    pub resources: u64,
    /// Tables that it lists.
    pub tables: u32,
    /// What a draw adds to the element numbers of attributes that ask for it.
    pub attribute_offset: u32,
    /// Guest address of the vertex packets, which table 61 is.
    pub packets: u64,
    /// Bytes from one entry of them to the next.
    pub packet_stride: u32,
    /// Guest address of the colour buffer, 0 for none.
    pub colours: u64,
}

impl Environment {
    /// The words, in the order in which a dispatch carries them.
    pub fn words(&self) -> [u32; WORDS] {
        let low = |n: u64| n as u32;
        let high = |n: u64| (n >> 32) as u32;
        [
            low(self.fau),
            high(self.fau),
            self.fau_words,
            low(self.resources),
            high(self.resources),
            self.tables,
            self.attribute_offset,
            low(self.packets),
            high(self.packets),
            self.packet_stride,
            low(self.colours),
            high(self.colours),
        ]
    }

    /// The environment that such words carry.
    pub fn of(words: [u32; WORDS]) -> Environment {
        let pair = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        Environment {
            fau: pair(0),
            fau_words: words[2],
            resources: pair(3),
            tables: words[5],
            attribute_offset: words[6],
            packets: pair(7),
            packet_stride: words[9],
            colours: pair(10),
        }
    }
}

/// Numbers of the registers that threads start with.
pub mod register {
    /// Which primitive, in fragment programs.
    pub const PRIMITIVE: usize = 57;
    /// 0 for front-facing primitives, in fragment programs.
    pub const FACING: usize = 58;
    /// Linear number of the vertex; pixel x and y in fragment programs.
    pub const LINEAR: usize = 59;
    /// Vertex, or the first axis of a compute job; coverage in fragment programs.
    pub const VERTEX: usize = 60;
    /// Instance, or the second axis of a compute job; sample position in fragment programs.
    pub const INSTANCE: usize = 61;
    /// First of the registers that hardware preloads.
    pub const PRELOADED: usize = 48;
    /// Linear number of the vertex that flat varyings come from.
    pub const FLAT_VERTEX: usize = 64;
    /// Linear numbers of the primitive's three vertices.
    pub const VERTICES: usize = 65;
    /// The three vertices' weights, f32.
    pub const WEIGHTS: usize = 68;
    /// Depth, f32.
    pub const FRAG_Z: usize = 71;
    /// 1/w, f32.
    pub const FRAG_W: usize = 72;
    /// Point coordinate x, f32; y follows.
    pub const POINT: usize = 73;
    /// Number of the thread in its launch.
    pub const NUMBER: usize = 75;
    /// Registers in all.
    pub const COUNT: usize = 76;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_carry_an_environment() {
        let env = Environment {
            fau: 0x1_0000_0002,
            fau_words: 3,
            resources: 0x4_0000_0005,
            tables: 6,
            attribute_offset: 7,
            packets: 0x8_0000_0009,
            packet_stride: 10,
            colours: 0xb_0000_000c,
        };
        assert_eq!(Environment::of(env.words()), env);
    }
}
