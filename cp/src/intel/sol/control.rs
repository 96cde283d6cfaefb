//! What 3DSTATE_STREAMOUT and 3DSTATE_SO_BUFFER say.

use crate::streamout::{BUFFERS, STREAMS, Slot};

/// Which vertex of a strip's odd triangles keeps its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Reorder {
    /// The first: `k, k + 2, k + 1`.
    #[default]
    Leading,
    /// The last: `k + 1, k, k + 2`.
    Trailing,
}

/// The slots that a stream's declarations reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct StreamReads {
    /// Slots before slot 0 of the declarations.
    pub first: u32,
    /// Slots.
    pub count: u32,
}

/// 3DSTATE_STREAMOUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct StreamoutControl {
    /// SO Function Enable.
    pub enabled: bool,
    /// Rendering Disable: nothing of the draw is rasterized.
    pub rendering_disabled: bool,
    /// Render Stream Select.
    pub render_stream: Slot,
    /// Reorder Mode.
    pub reorder: Reorder,
    /// SO Statistics Enable.
    pub statistics: bool,
    /// Force Rendering of Gen8 and later: 2 off, 3 on.
    pub force_rendering: u32,
    /// SO Buffer Enable of Gen7, one bit a buffer; later generations enable each buffer in its own packet.
    pub buffers: u8,
    /// Vertex Read Offset and Length of each stream, in slots.
    pub reads: [StreamReads; STREAMS],
    /// Surface pitches of Gen8 and later, in bytes.
    pub pitches: [u32; BUFFERS],
}

impl StreamoutControl {
    /// Whether what reaches the rasterizer is to be drawn.
    pub fn renders(&self) -> bool {
        match self.force_rendering {
            2 => false,
            3 => true,
            _ => !self.rendering_disabled,
        }
    }
}

/// 3DSTATE_SO_BUFFER.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SoBuffer {
    /// Guest address of the first byte.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes of one vertex.
    pub pitch: u32,
    /// Whether it is stored to.
    pub enabled: bool,
    /// Where the write offset is stored after each draw, if anywhere (Gen8 and later).
    pub offset_address: Option<u64>,
}
