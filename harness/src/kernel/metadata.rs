//! The metadata note: MessagePack that names the kernels and their arguments.

use serde::Deserialize;

use super::KernelError;

/// The note's whole contents, as far as they are wanted.
#[derive(Debug, Deserialize)]
struct Metadata {
    #[serde(rename = "amdhsa.kernels", default)]
    kernels: Vec<Kernel>,
}

/// A kernel as its metadata tells it.
#[derive(Clone, Debug, Deserialize)]
pub struct Kernel {
    /// Its name in the source.
    #[serde(rename = ".name")]
    pub name: String,
    /// The symbol of its descriptor.
    #[serde(rename = ".symbol")]
    pub symbol: String,
    /// Arguments in the order of the source, hidden ones last.
    #[serde(rename = ".args", default)]
    pub arguments: Vec<Argument>,
    /// Bytes of its argument segment.
    #[serde(rename = ".kernarg_segment_size")]
    pub kernarg_bytes: u32,
    /// Threads of a work-group along each axis, where the source fixes them.
    #[serde(rename = ".reqd_workgroup_size", default)]
    pub required_threads: Option<[u32; 3]>,
    /// Most threads of a work-group.
    #[serde(rename = ".max_flat_workgroup_size", default)]
    pub most_threads: Option<u32>,
    /// Whether it uses the queue's dynamic call stack.
    #[serde(rename = ".uses_dynamic_stack", default)]
    pub dynamic_stack: bool,
}

/// An argument.
#[derive(Clone, Debug, Deserialize)]
pub struct Argument {
    /// Its name, where the compiler kept it.
    #[serde(rename = ".name", default)]
    pub name: String,
    /// Its type in the source.
    #[serde(rename = ".type_name", default)]
    pub type_name: String,
    /// Byte offset in the argument segment.
    #[serde(rename = ".offset")]
    pub offset: u32,
    /// Bytes.
    #[serde(rename = ".size")]
    pub bytes: u32,
    /// What it is: `global_buffer`, `by_value`, `dynamic_shared_pointer`, `hidden_...`.
    #[serde(rename = ".value_kind")]
    pub kind: String,
}

impl Argument {
    /// Whether the launch gives it, not the caller.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }

    /// How messages call it.
    pub fn title(&self) -> String {
        let words = [self.type_name.trim_matches('\''), self.name.as_str()];
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        if words.is_empty() { self.kind.clone() } else { words.join(" ") }
    }
}

/// The kernels of a metadata note.
pub(super) fn kernels(note: &[u8]) -> Result<Vec<Kernel>, KernelError> {
    let metadata: Metadata =
        rmp_serde::from_slice(note).map_err(|e| KernelError::Metadata { what: e.to_string() })?;
    Ok(metadata.kernels)
}
