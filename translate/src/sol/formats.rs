//! Vertex formats of Intel's fetcher, by the codec that all guests share.

use guestwave_cp::intel::AttributeFormats;
use guestwave_isa::format::intel;

/// Reads every surface format that vertex fetch knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct VertexFormats;

impl AttributeFormats for VertexFormats {
    fn bytes(&self, format: u32) -> Option<u32> {
        intel(format).and_then(|(format, _)| u32::try_from(format.bytes()).ok())
    }

    fn load(&self, format: u32, element: &[u8; 16]) -> Option<[u32; 4]> {
        intel(format).map(|(format, _)| format.load(element))
    }
}
