//! The capture file: one submission of an Intel driver, as JSON.

use std::fs;
use std::io::Read;
use std::path::Path;

use guestwave_cp::intel::Gen;
use serde::Deserialize;

use super::IntelError;

/// The largest file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// One submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntelCapture {
    /// The test or program.
    pub name: String,
    /// `ivb`, `hsw`, `skl`, ...
    pub platform: String,
    /// The hardware's generation.
    pub generation: Gen,
    /// Buffer objects.
    pub buffers: Vec<IntelBuffer>,
    /// Guest address of the batch.
    pub batch: u64,
    /// Dwords of the batch.
    pub words: Vec<u32>,
    /// What memory held: addresses and bytes.
    pub memory: Vec<(u64, Vec<u8>)>,
}

/// A buffer object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntelBuffer {
    /// Its number.
    pub number: u32,
    /// Guest address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

#[derive(Deserialize)]
struct File {
    name: String,
    platform: String,
    #[serde(rename = "gen")]
    generation: String,
    bos: Vec<FileBuffer>,
    batch_base: String,
    packets: Vec<(String, String, String)>,
    #[serde(default)]
    memory: Option<Vec<(String, String)>>,
    #[serde(default)]
    vertex_buffer_bytes: Vec<FileVertices>,
}

#[derive(Deserialize)]
struct FileBuffer {
    index: u32,
    gpu_address: String,
    size: u64,
}

#[derive(Deserialize)]
struct FileVertices {
    start: String,
    data: String,
}

/// Whether a file is JSON, as Intel captures and examples are, by its first byte that is no space.
///
/// # Errors
/// The file cannot be read.
pub fn is_intel(path: &Path) -> Result<bool, IntelError> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(64).read_to_end(&mut start)?;
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(matches!(first, Some(b'{' | b'[')))
}

/// The file's text.
pub(super) fn text(path: &Path) -> Result<String, IntelError> {
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_BYTES {
        true => Err(IntelError::TooLarge { limit: MAX_BYTES }),
        false => Ok(text),
    }
}

impl IntelCapture {
    /// Reads a capture file.
    ///
    /// # Errors
    /// The file cannot be read or is no capture.
    pub fn load(path: &Path) -> Result<IntelCapture, IntelError> {
        IntelCapture::parse(&text(path)?)
    }

    /// Reads a capture's text.
    ///
    /// # Errors
    /// It is no capture.
    pub fn parse(text: &str) -> Result<IntelCapture, IntelError> {
        let file: File = serde_json::from_str(text)?;
        let generation = Gen::named(&file.generation)
            .ok_or_else(|| IntelError::Generation { name: file.generation.clone() })?;
        let mut memory = runs(file.memory.iter().flatten().map(|(at, data)| (at, data)))?;
        if file.memory.is_none() {
            memory = runs(file.vertex_buffer_bytes.iter().map(|v| (&v.start, &v.data)))?;
        }
        let buffer = |b: &FileBuffer| {
            let address = number("a buffer's address", &b.gpu_address)?;
            Ok(IntelBuffer { number: b.index, address, size: b.size })
        };
        Ok(IntelCapture {
            name: file.name,
            platform: file.platform,
            generation,
            buffers: file.bos.iter().map(buffer).collect::<Result<_, IntelError>>()?,
            batch: number("the batch's address", &file.batch_base)?,
            words: words(file.packets.iter().map(|(_, _, dwords)| dwords.as_str()))?,
            memory,
        })
    }
}

fn runs<'a>(runs: impl Iterator<Item = (&'a String, &'a String)>) -> Result<Vec<(u64, Vec<u8>)>, IntelError> {
    runs.map(|(at, data)| Ok((number("an address of memory", at)?, bytes(data)?))).collect()
}

/// A hexadecimal number, with or without `0x`.
pub(super) fn number(what: &'static str, text: &str) -> Result<u64, IntelError> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16)
        .map_err(|_| IntelError::Number { what, text: text.to_owned() })
}

/// Dwords in hexadecimal, separated by spaces.
pub(super) fn words<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<u32>, IntelError> {
    let word = |text: &str| {
        u32::from_str_radix(text, 16)
            .map_err(|_| IntelError::Number { what: "a dword", text: text.to_owned() })
    };
    texts.into_iter().flat_map(str::split_whitespace).map(word).collect()
}

/// Bytes in hexadecimal, two digits each.
fn bytes(text: &str) -> Result<Vec<u8>, IntelError> {
    let bad = || IntelError::Number { what: "bytes of memory", text: text.chars().take(16).collect() };
    let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(bad);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err(bad());
    }
    pairs.iter().map(|[high, low]| Ok((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}
