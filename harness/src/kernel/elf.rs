//! The ELF file of a code object, loaded.

use std::collections::BTreeMap;
use std::ops::Range;

use guestwave_cp::Isa;
use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol, RelocationFlags, RelocationTarget};

use super::KernelError;
use super::descriptor::{BYTES, Descriptor};
use super::metadata::{Kernel, kernels};

/// Most bytes that a code object may take in memory.
const MAX_IMAGE: u64 = 64 << 20;

/// The note that holds the metadata.
const METADATA_NOTE: (&[u8], u32) = (b"AMDGPU", 32);

/// Processor number in the file's flags, its name, and the instruction set that it has.
const PROCESSORS: [(u32, &str, Isa); 9] = [
    (0x33, "gfx1010", Isa::Gfx1010),
    (0x42, "gfx1013", Isa::Gfx1013),
    (0x36, "gfx1030", Isa::Gfx1030),
    (0x37, "gfx1031", Isa::Gfx1030),
    (0x38, "gfx1032", Isa::Gfx1030),
    (0x39, "gfx1033", Isa::Gfx1030),
    (0x3e, "gfx1034", Isa::Gfx1030),
    (0x3d, "gfx1035", Isa::Gfx1030),
    (0x45, "gfx1036", Isa::Gfx1030),
];

/// Relocations that a shared object may still have.
const ABS64: u32 = 3;
const RELATIVE64: u32 = 13;

/// A part of the image with its own rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Bytes of the image.
    pub(super) bytes: Range<u64>,
    pub(super) writable: bool,
    pub(super) executable: bool,
}

/// A code object: what memory is to hold, and its kernels.
#[derive(Clone, Debug)]
pub struct CodeObject {
    pub(super) isa: Isa,
    processor: &'static str,
    /// From address 0 of the file's address space on.
    image: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    symbols: BTreeMap<String, u64>,
    kernels: Vec<Kernel>,
    /// Words that hold an address of the image, with that address.
    pub(super) pointers: Vec<(u64, u64)>,
}

type File<'a> = ElfFile64<'a, LittleEndian>;

fn bad(what: impl Into<String>) -> KernelError {
    KernelError::File { what: what.into() }
}

impl CodeObject {
    /// Reads a code object.
    ///
    /// # Errors
    /// The file is damaged, unlinked, or for another processor.
    pub fn parse(bytes: &[u8]) -> Result<Self, KernelError> {
        let file = File::parse(bytes).map_err(|e| bad(e.to_string()))?;
        let header = file.elf_header();
        if header.e_machine.get(LittleEndian) != elf::EM_AMDGPU {
            return Err(bad("it is for another machine"));
        }
        if header.e_type.get(LittleEndian) != elf::ET_DYN {
            return Err(bad("it is not linked; link it with ld.lld -shared"));
        }
        let mach = header.e_flags.get(LittleEndian).0 & 0xff;
        let processor = PROCESSORS.iter().find(|(number, ..)| *number == mach);
        let (_, processor, isa) = *processor.ok_or(KernelError::Processor { mach })?;
        let (image, segments) = load(&file, bytes)?;
        let symbols = file.dynamic_symbols().chain(file.symbols());
        let symbols = symbols.filter_map(|s| Some((s.name().ok()?.to_owned(), s.address()))).collect();
        let kernels = kernels(metadata(&file, bytes)?)?;
        let pointers = pointers(&file)?;
        Ok(CodeObject { isa, processor, image, segments, symbols, kernels, pointers })
    }

    /// The processor's name.
    pub fn processor(&self) -> &'static str {
        self.processor
    }

    /// The kernels in the order of the metadata.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel of that name, or the only one.
    ///
    /// # Errors
    /// There is none of that name, or no name is given and there are several.
    pub fn kernel(&self, name: Option<&str>) -> Result<&Kernel, KernelError> {
        let found = match (name, &self.kernels[..]) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), all) => all.iter().find(|k| k.name == name),
        };
        let there: Vec<&str> = self.kernels.iter().map(|k| k.name.as_str()).collect();
        found.ok_or_else(|| KernelError::Name {
            name: name.unwrap_or_default().to_owned(),
            there: if there.is_empty() { "none".to_owned() } else { there.join(", ") },
        })
    }

    /// Bytes of the image.
    pub(super) fn image(&self) -> &[u8] {
        &self.image
    }

    /// A kernel's descriptor and the place of its first instruction in the image.
    pub(super) fn descriptor(&self, kernel: &Kernel) -> Result<(Descriptor, u64), KernelError> {
        let wrong = |what| KernelError::Descriptor { kernel: kernel.name.clone(), what };
        let at = *self.symbols.get(&kernel.symbol).ok_or(wrong("has no symbol"))?;
        let end = at.checked_add(BYTES as u64).ok_or(wrong("is not in the file"))?;
        let bytes = self.image.get(at as usize..end as usize).and_then(|b| b.first_chunk());
        let descriptor = Descriptor::new(bytes.ok_or(wrong("is not in the file"))?);
        descriptor.check(&kernel.name)?;
        let entry = at.wrapping_add_signed(descriptor.entry());
        let inside = self.segments.iter().any(|s| s.executable && s.bytes.contains(&entry));
        if inside { Ok((descriptor, entry)) } else { Err(wrong("has no code at its entry")) }
    }

    /// The words of the executable segments.
    pub(super) fn code(&self) -> impl Iterator<Item = &[u8]> {
        let executable = self.segments.iter().filter(|s| s.executable);
        executable.filter_map(|s| self.image.get(s.bytes.start as usize..s.bytes.end as usize))
    }
}

/// The segments at their addresses.
fn load(file: &File<'_>, bytes: &[u8]) -> Result<(Vec<u8>, Vec<Segment>), KernelError> {
    let e = LittleEndian;
    let (mut image, mut segments) = (Vec::new(), Vec::new());
    for header in file.elf_program_headers().iter().filter(|h| h.p_type(e) == elf::PT_LOAD) {
        let start = header.p_vaddr(e);
        let end = start.checked_add(header.p_memsz(e)).filter(|end| *end <= MAX_IMAGE);
        let end = end.ok_or_else(|| bad(format!("a segment lies above {MAX_IMAGE} bytes")))?;
        let data = header.data(e, bytes).map_err(|()| bad("a segment is not all in the file"))?;
        if data.len() as u64 > end - start {
            return Err(bad("a segment is longer in the file than in memory"));
        }
        image.resize(image.len().max(end as usize), 0);
        image[start as usize..start as usize + data.len()].copy_from_slice(data);
        let flags = header.p_flags(e);
        let has = |flag: elf::ProgramFlags| flags.0 & flag.0 != 0;
        let (writable, executable) = (has(elf::PF_W), has(elf::PF_X));
        segments.push(Segment { bytes: start..end, writable, executable });
    }
    Ok((image, segments))
}

/// The metadata note's contents.
fn metadata<'a>(file: &File<'a>, bytes: &'a [u8]) -> Result<&'a [u8], KernelError> {
    let missing = || KernelError::Metadata { what: "there is none".to_owned() };
    for header in file.elf_program_headers() {
        let Ok(Some(mut notes)) = header.notes(LittleEndian, bytes) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if (note.name(), note.n_type(LittleEndian).0) == METADATA_NOTE {
                return Ok(note.desc());
            }
        }
    }
    Err(missing())
}

/// Words that hold addresses of the image.
fn pointers(file: &File<'_>) -> Result<Vec<(u64, u64)>, KernelError> {
    let mut found = Vec::new();
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        let kind = r_type.0;
        let target = match (kind, relocation.target()) {
            (RELATIVE64, _) => Some(0),
            (ABS64, RelocationTarget::Symbol(index)) => symbol(file, index),
            _ => None,
        };
        let target = target.ok_or(KernelError::Relocation { kind, address })?;
        found.push((address, target.wrapping_add_signed(relocation.addend())));
    }
    Ok(found)
}

/// The address of a defined symbol.
fn symbol(file: &File<'_>, index: object::SymbolIndex) -> Option<u64> {
    let table = file.dynamic_symbol_table()?;
    let symbol = object::ObjectSymbolTable::symbol_by_index(&table, index).ok()?;
    (!symbol.is_undefined()).then(|| symbol.address())
}
