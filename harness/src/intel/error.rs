//! What can be wrong with an Intel capture or example.

use crate::codes::coded_errors;
use crate::memory::MemoryError;

coded_errors! {
    /// A file of Intel captures or examples that cannot be run.
    IntelError: INTEL_ERRORS;
    /// The file could not be read.
    Io { error: String } = "HN-INTEL-001", "the file could not be read: {error}";
    /// The file is larger than is read.
    TooLarge { limit: u64 } = "HN-INTEL-002", "the file is larger than {limit} bytes";
    /// The file is not JSON of the kind.
    Json { error: String } = "HN-INTEL-003", "the file is no capture and no list of examples: {error}";
    /// A number that is none.
    Number { what: &'static str, text: String } = "HN-INTEL-004", "{what} is {text:?}, which is no hexadecimal number";
    /// A generation that is not known.
    Generation { name: String } = "HN-INTEL-005", "generation {name:?} is none of 7, 7.5, 8, 9, 11 and 12";
    /// The capture's memory contradicts itself.
    Memory { error: String } = "HN-INTEL-006", "the capture's memory: {error}";
    /// A mode that no example has.
    Example { example: String, what: &'static str } = "HN-INTEL-007", "example {example}: {what}";
}

impl From<MemoryError> for IntelError {
    fn from(error: MemoryError) -> Self {
        IntelError::Memory { error: error.to_string() }
    }
}

impl From<std::io::Error> for IntelError {
    fn from(error: std::io::Error) -> Self {
        IntelError::Io { error: error.to_string() }
    }
}

impl From<serde_json::Error> for IntelError {
    fn from(error: serde_json::Error) -> Self {
        IntelError::Json { error: error.to_string() }
    }
}
