//! Varyings as text: a line each.
//!
//! ```text
//! # stage name location[.component] type [mediump] [flat] [centroid|sample]
//! vs v_id     var0    int
//! vs v_color  var1    vec4
//! fs v_color  var1    vec4  mediump
//! ```

use super::types::{Base, Element, Location, Sampling, Stage, Varying};
use crate::Refusal;

/// Scalar and vector names of each type.
const TYPES: [(&str, &str, Base, u8); 6] = [
    ("float", "vec", Base::Float, 32),
    ("int", "ivec", Base::Sint, 32),
    ("uint", "uvec", Base::Uint, 32),
    ("float16_t", "f16vec", Base::Float, 16),
    ("int16_t", "i16vec", Base::Sint, 16),
    ("uint16_t", "u16vec", Base::Uint, 16),
];

/// The varyings of a text. Blank lines and what follows a `#` do not count.
///
/// # Errors
/// [`Refusal::VaryingLine`] with the line's number.
pub fn parse(text: &str) -> Result<Vec<Varying>, Refusal> {
    let mut varyings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<_> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        if !words.is_empty() {
            let varying = varying(&words).map_err(|what| Refusal::VaryingLine { line: number, what })?;
            varyings.push(varying);
        }
    }
    Ok(varyings)
}

fn varying(words: &[&str]) -> Result<Varying, String> {
    let [stage, name, location, ty, flags @ ..] = words else {
        return Err("a varying is: stage name location type [flags]".to_owned());
    };
    let stage = match *stage {
        "vs" => Stage::Vertex,
        "fs" => Stage::Fragment,
        other => return Err(format!("{other:?} is no stage: vs or fs")),
    };
    let (place, component) = location.split_once('.').unwrap_or((location, "0"));
    let location = Location::named(place).ok_or_else(|| format!("{place:?} is no location"))?;
    let component = component.parse().map_err(|_| format!("{component:?} is no component"))?;
    let (element, components) = element(ty).ok_or_else(|| format!("{ty:?} is no type"))?;
    let (mediump, flat, sampling) = (false, false, Sampling::Center);
    let name = (*name).to_owned();
    let mut varying =
        Varying { name, stage, location, component, components, element, mediump, flat, sampling };
    flags.iter().try_for_each(|flag| varying.flag(flag))?;
    Ok(varying)
}

impl Varying {
    fn flag(&mut self, flag: &str) -> Result<(), String> {
        match flag {
            "highp" | "smooth" => {}
            "mediump" => self.mediump = true,
            "flat" => self.flat = true,
            "centroid" => self.sampling = Sampling::Centroid,
            "sample" => self.sampling = Sampling::Sample,
            other => return Err(format!("{other:?} is no flag")),
        }
        Ok(())
    }
}

/// Type and number of components of a type's name.
fn element(name: &str) -> Option<(Element, u8)> {
    TYPES.iter().find_map(|(scalar, vector, base, bits)| {
        let element = Element { base: *base, bits: *bits };
        let count = name.strip_prefix(vector).and_then(|n| n.parse().ok()).filter(|n| (2..=4).contains(n));
        if name == *scalar { Some((element, 1)) } else { count.map(|n| (element, n)) }
    })
}
