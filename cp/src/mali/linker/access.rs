//! Which instruction each access uses.

use super::slots::{access_type, loaded};
use super::types::{Base, Element, Location, Stage, Varying};
use super::{Access, Form, Layout, Request, Section, Slot};
use crate::mali::{Generation, Version};

/// Descriptor indices that immediates reach: LEA_ATTR and LD_VAR of v6 and v7, LD_VAR of v9 and later.
const LEA_ATTR_IMMEDIATE: u32 = 16;
const LD_VAR_IMMEDIATE: u32 = 20;
const VALHALL_IMMEDIATE: u32 = 256;

/// Bytes that the offset of LD_VAR_BUF can count: 8 bits on v9 and v10, 11 bits later.
pub(super) fn offset_limit(version: Version) -> u32 {
    if version.number() <= 10 { 256 } else { 2048 }
}

/// Why loads of v9 and later go through descriptors whatever the offsets are.
pub(super) fn fallback(request: &Request, fragment: &[Slot]) -> Option<String> {
    let valhall = request.version.generation() == Generation::Valhall;
    let generic = fragment.iter().any(|s| matches!(s.location, Location::Var(_)));
    let why = "the shaders are compiled separately, so the fragment shader does not know the layout";
    (valhall && request.separate && generic).then(|| why.to_owned())
}

/// Why loads of v9 and later go through descriptors because of an offset.
pub(super) fn overflow(request: &Request, slots: &[Slot]) -> Option<String> {
    if request.version.generation() != Generation::Valhall {
        return None;
    }
    let limit = offset_limit(request.version);
    let offset = |v: &&Varying| {
        let slot = slots.iter().find(|s| s.location == v.location)?;
        match slot.section {
            Section::Generic { offset } => Some(offset + component_bytes(slot, v.component)),
            _ => None,
        }
    };
    let inputs = request.varyings.iter().filter(|v| v.stage == Stage::Fragment);
    let past = |v: &&Varying| offset(v).is_some_and(|o| o >= limit);
    let first = inputs.into_iter().find(past)?;
    let at = offset(&first)?;
    let number = request.version.number();
    Some(format!("{} lies at byte {at}, and the immediate of v{number} ends before {limit}", first.name))
}

/// Bytes of a slot before a component.
fn component_bytes(slot: &Slot, component: u8) -> u32 {
    u32::from(component) * u32::from(slot.element.bits) / 8
}

/// The access of every varying of the request.
pub(super) fn choose(request: &Request, layout: &Layout, fragment: &[Slot]) -> Vec<Access> {
    let chooser = Chooser { request, layout, fragment };
    let each = request.varyings.iter().enumerate();
    each.map(|(i, v)| match v.stage {
        Stage::Vertex => chooser.store(i, v),
        Stage::Fragment => chooser.load(i, v),
    })
    .collect()
}

struct Chooser<'a> {
    request: &'a Request,
    layout: &'a Layout,
    fragment: &'a [Slot],
}

impl Chooser<'_> {
    fn version(&self) -> Version {
        self.request.version
    }

    /// Descriptor index of a vertex slot (v4 to v7: the slots come first).
    fn vertex_descriptor(&self, location: Location) -> Option<u32> {
        self.layout.slots.iter().position(|s| s.location == location).map(|i| i as u32)
    }

    /// Descriptor index of a fragment slot: behind the vertex's on v4 to v7, by itself later. Inputs that an instruction or
    /// a register gives take none.
    fn fragment_descriptor(&self, location: Location) -> Option<u32> {
        let used = self.fragment.iter().filter(|s| uses_descriptor(self.version(), s.location));
        let place = used.into_iter().position(|s| s.location == location)? as u32;
        // Each stage counts its own array; the driver's table holds the vertex's first.
        Some(place)
    }

    fn store(&self, index: usize, v: &Varying) -> Access {
        let (_, reason) = access_type(self.request, v);
        let mut why = vec![reason.to_owned()];
        let Some(slot) = self.layout.slot(v.location) else { return nothing(index, why) };
        let valhall = self.version().generation() == Generation::Valhall;
        let descriptor = self.vertex_descriptor(v.location).filter(|_| !valhall);
        let form = self.store_form(slot, descriptor, &mut why);
        let section = self.stored_section(slot, v, form, &mut why);
        let converts = (v.element.bits != slot.element.bits && valhall).then_some(v.element.bits);
        if converts.is_some() {
            why.push(format!("STORE does not convert: the shader makes {} of it first", slot.element));
        }
        // Through a descriptor the register keeps the shader's size and the hardware converts.
        let bits = if valhall { slot.element.bits } else { v.element.bits };
        let register = self.register(Element { base: slot.element.base, bits }, &mut why);
        let (memory, components) = (slot.element, moved(v, form));
        Access { varying: index, form, register, memory, components, section, descriptor, converts, why }
    }

    fn store_form(&self, slot: &Slot, descriptor: Option<u32>, why: &mut Vec<String>) -> Form {
        match self.version().generation() {
            Generation::Midgard => Form::StoreVarying,
            Generation::Bifrost => {
                let immediate = descriptor.is_some_and(|d| d < LEA_ATTR_IMMEDIATE);
                why.push(index_reason(immediate, LEA_ATTR_IMMEDIATE));
                Form::StoreConverted { immediate }
            }
            Generation::Valhall => {
                why.push("v9 and later store through the output buffer, without a descriptor".to_owned());
                if matches!(slot.section, Section::Attributes { .. }) {
                    let entry = "its entry is the fourth after the position's: LEA_BUF's index is the internal id + 4";
                    why.push(entry.to_owned());
                }
                Form::StoreBuffer
            }
        }
    }

    /// Where a store goes: nowhere if it goes through a descriptor and nobody reads it.
    fn stored_section(&self, slot: &Slot, v: &Varying, form: Form, why: &mut Vec<String>) -> Section {
        let reads = |o: &Varying| o.stage == Stage::Fragment && o.location == v.location;
        let read = self.request.varyings.iter().any(reads);
        let user = matches!(slot.section, Section::Generic { .. });
        if user && !read && form != Form::StoreBuffer {
            why.push("no input reads it: a Constant descriptor discards the store".to_owned());
            return Section::Nowhere;
        }
        shifted(slot, v, form)
    }

    fn load(&self, index: usize, v: &Varying) -> Access {
        let (element, reason) = access_type(self.request, v);
        let mut why = vec![reason.to_owned()];
        if let Some(form) = special(self.version(), v.location) {
            return self.special(index, v, form, why);
        }
        let linked = self.version().generation() == Generation::Valhall && !self.request.separate;
        let Some(slot) =
            self.layout.slot(v.location).filter(|s| matches!(s.section, Section::Generic { .. }))
        else {
            return self.missing(index, v, linked, why);
        };
        let memory = Element { base: element.base, bits: slot.element.bits };
        let moved_as = loaded(self.version(), v.flat, memory);
        if moved_as != memory {
            why.push("a flat 16-bit integer is loaded as F16, which keeps its bits".to_owned());
        }
        let memory = moved_as;
        if memory.bits != v.element.bits {
            let (has, wants) = (memory.bits, v.element.bits);
            why.push(format!("the vertex shader stores {has} bits and decides; the value becomes {wants} bits after the load"));
        }
        let descriptor = self.fragment_descriptor(v.location).filter(|_| !self.layout.direct());
        let form = self.load_form(descriptor, &mut why);
        Access {
            varying: index,
            form,
            register: self.register(memory, &mut why),
            memory,
            components: moved(v, form),
            section: shifted(slot, v, form),
            descriptor,
            converts: (memory.bits != v.element.bits).then_some(v.element.bits),
            why,
        }
    }

    /// The register of an access: v4 and v5 hold integers in 32 bits.
    fn register(&self, element: Element, why: &mut Vec<String>) -> Element {
        let widened = element.bits == 16 && element.base != Base::Float;
        if !widened || self.version().generation() != Generation::Midgard {
            return element;
        }
        why.push("v4 and v5 have no 16-bit integer registers: the value passes through 32 bits".to_owned());
        Element { bits: 32, ..element }
    }

    fn load_form(&self, descriptor: Option<u32>, why: &mut Vec<String>) -> Form {
        match (self.version().generation(), descriptor) {
            (Generation::Midgard, _) => Form::LoadVarying,
            (Generation::Valhall, None) => {
                let limit = offset_limit(self.version());
                why.push(format!(
                    "the shaders are linked and every offset is below {limit}: the instruction holds it"
                ));
                Form::LoadBuffer
            }
            (generation, index) => {
                let valhall = generation == Generation::Valhall;
                let limit = if valhall { VALHALL_IMMEDIATE } else { LD_VAR_IMMEDIATE };
                let immediate = index.is_some_and(|i| i < limit);
                why.extend(self.layout.fallback.as_ref().map(|w| format!("through a descriptor: {w}")));
                why.push(index_reason(immediate, limit));
                Form::LoadDescriptor { immediate }
            }
        }
    }

    fn missing(&self, index: usize, v: &Varying, linked: bool, mut why: Vec<String>) -> Access {
        if linked {
            why.push("no output matches it: the load becomes 0".to_owned());
            return nothing(index, why);
        }
        why.push("no output matches it: its descriptor has the Constant format".to_owned());
        let descriptor = self.fragment_descriptor(v.location);
        let form = match self.version().generation() {
            Generation::Midgard => Form::LoadVarying,
            _ => Form::LoadDescriptor { immediate: descriptor.is_some_and(|d| d < LD_VAR_IMMEDIATE) },
        };
        let (element, _) = access_type(self.request, v);
        Access {
            varying: index,
            form,
            register: self.register(element, &mut why),
            memory: element,
            components: moved(v, form),
            section: Section::Nowhere,
            descriptor,
            converts: None,
            why,
        }
    }

    fn special(&self, index: usize, v: &Varying, form: Form, mut why: Vec<String>) -> Access {
        let descriptor = self.fragment_descriptor(v.location).filter(|_| form == Form::LoadVarying);
        why.push(match form {
            Form::LoadVarying => "v4 and v5 read it through a special descriptor without memory".to_owned(),
            Form::LoadSpecial(_) => "an instruction of its own reads it since v6".to_owned(),
            _ => "the hardware puts it into a register before the shader starts".to_owned(),
        });
        let element = v.element;
        let components = v.components;
        let section = Section::Special;
        Access {
            varying: index,
            form,
            register: element,
            memory: element,
            components,
            section,
            descriptor,
            converts: None,
            why,
        }
    }
}

/// Whether a fragment input takes a descriptor in this version.
pub(super) fn uses_descriptor(version: Version, location: Location) -> bool {
    version.generation() == Generation::Midgard || special(version, location).is_none()
}

/// How a fragment shader gets what the rasterizer makes; nothing for inputs from memory.
pub(super) fn special(version: Version, location: Location) -> Option<Form> {
    let old = version.generation() == Generation::Midgard;
    let late = |name| if old { Form::LoadVarying } else { Form::LoadSpecial(name) };
    match location {
        Location::PointCoord => Some(late("point")),
        Location::FragCoord => Some(late("frag_z, frag_w")),
        Location::FrontFacing if old => Some(Form::LoadVarying),
        Location::FrontFacing => Some(Form::Preloaded("r58")),
        Location::PrimitiveId if !old => Some(Form::Preloaded("r57")),
        _ => None,
    }
}

/// Components that a form moves: descriptors begin at the slot's first.
fn moved(v: &Varying, form: Form) -> u8 {
    match form {
        Form::LoadBuffer | Form::StoreBuffer => v.components,
        _ => v.end(),
    }
}

/// The place that a form reaches: the varying's first component where the instruction holds the offset, else the slot's.
fn shifted(slot: &Slot, v: &Varying, form: Form) -> Section {
    match (slot.section, form) {
        (Section::Generic { offset }, Form::LoadBuffer | Form::StoreBuffer) => {
            Section::Generic { offset: offset + component_bytes(slot, v.component) }
        }
        (section, _) => section,
    }
}

fn nothing(index: usize, why: Vec<String>) -> Access {
    let element = Element::F32;
    let section = Section::Nowhere;
    Access {
        varying: index,
        form: Form::Zero,
        register: element,
        memory: element,
        components: 0,
        section,
        descriptor: None,
        converts: None,
        why,
    }
}

fn index_reason(immediate: bool, limit: u32) -> String {
    match immediate {
        true => format!("the descriptor's index is below {limit}: an immediate"),
        false => format!("the descriptor's index is not below {limit}: in a register"),
    }
}
