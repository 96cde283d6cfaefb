//! What a launch gives every thread.

/// Words that a thread starts with.
pub const REGISTERS: usize = 64 + launch::COUNT;

/// The launch words of a thread, by their place behind r63.
pub mod launch {
    /// Linear number of the vertex whose values flat varyings have.
    pub const FLAT_VERTEX: usize = 64;
    /// Linear numbers of the three vertices that smooth varyings are interpolated between.
    pub const VERTICES: usize = 65;
    /// The three vertices' perspective-correct weights, f32.
    pub const WEIGHTS: usize = 68;
    /// Depth, 1/w, and the point coordinate's x and y, f32: what special varyings read as.
    pub const FRAG_Z: usize = 71;
    /// 1/w.
    pub const FRAG_W: usize = 72;
    /// The point coordinate's x; y follows.
    pub const POINT: usize = 73;
    /// Number of the thread in its launch: where in the colour buffer its colours go.
    pub const NUMBER: usize = 75;
    /// How many launch words there are.
    pub const COUNT: usize = 12;
}

/// A buffer of vertex packets, which hardware keeps in table 61.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Guest address of entry 0.
    pub address: u64,
    /// Bytes from one entry to the next.
    pub stride: u32,
}

/// What is the same for every thread of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Guest address of the uniforms.
    pub fau: u64,
    /// Words of them; those past the end read as 0.
    pub fau_words: u32,
    /// Guest address of the resource table.
    pub resources: u64,
    /// Tables that it lists.
    pub tables: u32,
    /// What the draw adds to element numbers of attributes that ask for it.
    pub attribute_offset: u32,
    /// Table 61.
    pub hidden: Hidden,
    /// Guest address of the colour buffer: 128 bytes a thread, 16 a render target; 0 where colours are not wanted.
    pub colours: u64,
}
