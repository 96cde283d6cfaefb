//! The record of exports and messages: how far a lane's row is written, and which instructions write to it.

use super::Emit;
use super::registers::Cell;
use crate::gfx10::event::Event;
use crate::program::Value;

impl Emit<'_> {
    /// Bytes of the lane's row that are written.
    pub(in crate::gfx10) fn record_at(&mut self) -> Value {
        self.get(Cell::Record)
    }

    /// Says how many bytes of the lane's row are written now.
    pub(in crate::gfx10) fn set_record_at(&mut self, bytes: Value) {
        self.put(Cell::Record, bytes);
    }

    /// Remembers an instruction that writes to the record.
    pub(in crate::gfx10) fn note_event(&mut self, event: Event) {
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }
}
