//! Accesses as instructions, with the registers that drivers' shaders have by convention.

use super::types::{Element, Sampling};
use super::{Access, Form, Layout, Section, Stage, Varying};

/// Memory widths of stores by their bits.
const WIDTHS: [(u32, &str); 7] =
    [(8, "i8"), (16, "i16"), (32, "i32"), (48, "i48"), (64, "i64"), (96, "i96"), (128, "i128")];

/// `.v2` and so on.
fn vector(components: u8) -> String {
    if components > 1 { format!(".v{components}") } else { String::new() }
}

fn position(sampling: Sampling) -> &'static str {
    match sampling {
        Sampling::Center => "center",
        Sampling::Centroid => "centroid",
        Sampling::Sample => "sample",
    }
}

/// Staging registers of Valhall from r0 on.
fn staging(components: u8, bits: u8) -> String {
    let count = (u32::from(components) * u32::from(bits)).div_ceil(32).max(1);
    let names: Vec<_> = (0..count).map(|n| format!("r{n}")).collect();
    format!("@{}", names.join(":"))
}

impl Layout {
    /// The instructions of an access in the text that `guestwave-isa` prints and reads; none for constants and preloaded
    /// registers.
    pub fn instructions(&self, access: &Access, varying: &Varying) -> Vec<String> {
        let index = access.descriptor.unwrap_or(0);
        let (element, count) = (access.register, access.components);
        match access.form {
            Form::StoreVarying => vec![self.midgard("ST_VARY", access, "AL0", "")],
            Form::LoadVarying => vec![self.midgard("LD_VARY", access, "R0.xyzw", &modifiers(varying))],
            Form::StoreConverted { immediate } => {
                let (name, place) = indexed("LEA_ATTR", immediate, "attribute_index", index);
                vec![
                    format!("+{name}.{element} t1, r0, r1, {place}, @r8"),
                    format!("+ST_CVT{} t1, r0, r1, r2, @r8", vector(count)),
                ]
            }
            Form::LoadDescriptor { immediate } if self.version.number() < 9 => {
                bifrost_load(varying, access, immediate, index)
            }
            Form::LoadDescriptor { immediate } => valhall_descriptor(varying, access, immediate, index),
            Form::StoreBuffer => self.valhall_store(access),
            Form::LoadBuffer => vec![self.valhall_load(varying, access)],
            Form::LoadSpecial(names) => names.split(", ").map(|name| self.special(name, count)).collect(),
            Form::Preloaded(_) | Form::Zero => Vec::new(),
        }
    }

    fn midgard(&self, name: &str, access: &Access, register: &str, tail: &str) -> String {
        let index = access.descriptor.unwrap_or(0);
        let place = if index == 0 { "0.x".to_owned() } else { format!("0.x + 0x{index:x}") };
        // The descriptor decides what a store writes, except on v4.
        let auto = name == "ST_VARY" && self.version.number() >= 5 && access.register.bits == 32;
        let element = if auto { "f32.a32".to_owned() } else { access.register.to_string() };
        format!("{name}.{element} {register}, {place}, 0.x{tail}")
    }

    fn valhall_store(&self, access: &Access) -> Vec<String> {
        let bits = u32::from(access.components) * u32::from(access.memory.bits);
        let width = WIDTHS.iter().find(|w| w.0 == bits).map_or("i128", |w| w.1);
        let offset = match access.section {
            Section::Generic { offset } | Section::Attributes { offset } => offset,
            _ => 0,
        };
        let stream = if matches!(access.section, Section::Generic { .. }) { "estream" } else { "istream" };
        // v12 put the varyings into a buffer of their own.
        let buffer = u32::from(self.version.number() >= 12 && stream == "estream");
        vec![
            format!("LEA_BUF_IMM.slot0 @r4:r5, r59, table:0xD, index:0x{buffer:X}"),
            format!(
                "STORE.{width}.{stream}.slot0 {}, r4, offset:{offset}",
                staging(access.components, access.memory.bits)
            ),
        ]
    }

    fn valhall_load(&self, varying: &Varying, access: &Access) -> String {
        let (bits, vec) = (access.register.bits, vector(access.components));
        let offset = if let Section::Generic { offset } = access.section { offset } else { 0 };
        let regs = staging(access.components, bits);
        if varying.flat && self.version.number() >= 14 {
            return format!("LD_VAR_BUF_FLAT_IMM.slot0{vec}.src_flat{bits} {regs}, index:0x{offset:X}");
        }
        let source = if varying.flat { format!("flat{bits}") } else { access.memory.to_string() };
        let position = if varying.flat { "center" } else { position(varying.sampling) };
        format!(
            "LD_VAR_BUF_IMM.f{bits}.slot0{vec}.src_{source}.{position}.store {regs}, r61, index:0x{offset:X}"
        )
    }

    fn special(&self, name: &str, components: u8) -> String {
        let pair = if name == "point" { ".v2" } else { "" };
        let code =
            [("point", 0), ("frag_w", 2), ("frag_z", 3)].iter().find(|n| n.0 == name).map_or(0, |n| n.1);
        if self.version.number() < 9 {
            return format!("+LD_VAR_SPECIAL.{name}{pair}.clobber.f32.center t1, r0, @r8");
        }
        let regs = if name == "point" { staging(components.max(2), 32) } else { "@r0".to_owned() };
        let regs = if name == "point" { regs.chars().take(6).collect() } else { regs };
        format!("LD_VAR_SPECIAL{pair}.f32.center.clobber.slot0 {regs}, r61, index:0x{code:X}")
    }
}

/// Name and place of an index: an immediate, or a source.
fn indexed(name: &str, immediate: bool, label: &str, index: u32) -> (String, String) {
    match immediate {
        true => (format!("{name}_IMM"), format!("{label}:{index}")),
        false => (name.to_owned(), "#0.x".to_owned()),
    }
}

/// Flat, perspective and place of a load of v4 and v5.
fn modifiers(varying: &Varying) -> String {
    let centroid = u8::from(varying.sampling == Sampling::Centroid && !varying.flat);
    let sample = u8::from(varying.sampling == Sampling::Sample && !varying.flat);
    let flat = u8::from(varying.flat);
    format!(" [mod=0 flat={flat} persp=1 centroid={centroid} per_sample={sample}]")
}

fn bifrost_load(varying: &Varying, access: &Access, immediate: bool, index: u32) -> Vec<String> {
    let (element, vec) = (access.register, vector(access.components));
    vec![match varying.flat {
        true => {
            let (name, place) = indexed("LD_VAR_FLAT", immediate, "index", index);
            format!("+{name}{vec}.{} t1, {place}, @r8", flat_register(element))
        }
        false => {
            let (name, place) = indexed("LD_VAR", immediate, "index", index);
            format!("+{name}{vec}.store.{element}.{} t1, r0, {place}, @r8", position(varying.sampling))
        }
    }]
}

/// The register format of a flat load: 16-bit integers have none of their own and move as F16.
fn flat_register(element: Element) -> String {
    if element.bits == 16 { "f16".to_owned() } else { element.to_string() }
}

fn valhall_descriptor(varying: &Varying, access: &Access, immediate: bool, index: u32) -> Vec<String> {
    let (vec, regs) = (vector(access.components), staging(access.components, access.register.bits));
    let flat = varying.flat && varying.stage == Stage::Fragment;
    let place = if immediate { format!("table:0x1, index:0x{index:X}") } else { "r62".to_owned() };
    let suffix = if immediate { "_IMM" } else { "" };
    vec![match flat {
        true => format!("LD_VAR_FLAT{suffix}{vec}.{}.slot0 {regs}, {place}", flat_register(access.register)),
        false => {
            let position = position(varying.sampling);
            format!("LD_VAR{suffix}{vec}.{}.slot0.{position}.store {regs}, r61, {place}", access.register)
        }
    }]
}
