//! What a shader says of a varying.

use crate::Refusal;
use crate::mali::{Generation, Version};

/// Base type of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// Float.
    Float,
    /// Signed integer.
    Sint,
    /// Unsigned integer.
    Uint,
}

/// Type of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Base type.
    pub base: Base,
    /// 16 or 32.
    pub bits: u8,
}

impl Element {
    /// A 32-bit float.
    pub const F32: Element = Element { base: Base::Float, bits: 32 };
    /// A 16-bit float.
    pub const F16: Element = Element { base: Base::Float, bits: 16 };
    /// An unsigned 32-bit integer.
    pub const U32: Element = Element { base: Base::Uint, bits: 32 };
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = match self.base {
            Base::Float => 'f',
            Base::Sint => 's',
            Base::Uint => 'u',
        };
        write!(f, "{letter}{}", self.bits)
    }
}

/// Which shader a varying belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The vertex shader's outputs.
    Vertex,
    /// The fragment shader's inputs.
    Fragment,
}

/// Where an API puts a varying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// The vertex's position.
    Position,
    /// The point size.
    PointSize,
    /// The layer.
    Layer,
    /// The viewport.
    Viewport,
    /// The primitive's number.
    PrimitiveId,
    /// The fragment's place in its point.
    PointCoord,
    /// Whether the front faces.
    FrontFacing,
    /// The fragment's window coordinates.
    FragCoord,
    /// User varying of this number.
    Var(u8),
}

/// Names of locations, user varyings apart.
const NAMES: [(&str, Location); 8] = [
    ("position", Location::Position),
    ("psiz", Location::PointSize),
    ("layer", Location::Layer),
    ("viewport", Location::Viewport),
    ("primitive_id", Location::PrimitiveId),
    ("point_coord", Location::PointCoord),
    ("face", Location::FrontFacing),
    ("frag_coord", Location::FragCoord),
];

/// User varyings that an API can number.
const USER_VARYINGS: u8 = 64;

impl Location {
    /// The location of a name: `position`, `var3`, ...
    pub fn named(name: &str) -> Option<Location> {
        let user = name.strip_prefix("var").and_then(|n| n.parse().ok()).filter(|n| *n < USER_VARYINGS);
        let fixed = NAMES.iter().find(|(n, _)| *n == name).map(|(_, location)| *location);
        fixed.or(user.map(Location::Var))
    }

    /// Whether the rasterizer makes it, for a fragment shader.
    pub fn is_special(self) -> bool {
        matches!(self, Location::PointCoord | Location::FrontFacing | Location::FragCoord)
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (NAMES.iter().find(|(_, l)| l == self), self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Location::Var(n)) => write!(f, "var{n}"),
            (None, _) => Ok(()),
        }
    }
}

/// Where in a pixel a smooth varying is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Sampling {
    /// At the pixel's center.
    #[default]
    Center,
    /// Within the covered part.
    Centroid,
    /// At each sample.
    Sample,
}

/// A varying of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// For reports.
    pub name: String,
    /// Whose.
    pub stage: Stage,
    /// Where.
    pub location: Location,
    /// First component, 0 to 3.
    pub component: u8,
    /// Components, 1 to 4.
    pub components: u8,
    /// The shader's own type.
    pub element: Element,
    /// Whether its precision is medium.
    pub mediump: bool,
    /// Whether it is flat. Means nothing for outputs.
    pub flat: bool,
    /// Where a smooth input is interpolated.
    pub sampling: Sampling,
}

impl Varying {
    /// First component after the last.
    pub fn end(&self) -> u8 {
        self.component.saturating_add(self.components)
    }

    pub(super) fn check(&self, version: Version) -> Result<(), Refusal> {
        let fault =
            |what: &str| Err(Refusal::VaryingShape { name: self.name.clone(), what: what.to_owned() });
        let integer = self.element.base != Base::Float;
        if !(1..=4).contains(&self.components) || self.end() > 4 {
            return fault("components reach past the fourth, or there are none");
        }
        if !matches!(self.element.bits, 16 | 32) {
            return fault("components have neither 16 nor 32 bits");
        }
        if self.stage == Stage::Fragment && integer && !self.flat && !self.location.is_special() {
            return fault("an integer input has to be flat");
        }
        if self.stage == Stage::Vertex && self.location.is_special() {
            return fault("a vertex shader does not write what the rasterizer makes");
        }
        let stored = matches!(
            self.location,
            Location::Position | Location::PointSize | Location::Layer | Location::Viewport
        );
        if self.stage == Stage::Fragment && stored {
            return fault("a fragment shader does not read what the vertex shader stores for the rasterizer");
        }
        let old = version.generation() == Generation::Midgard;
        if old && matches!(self.location, Location::Layer | Location::Viewport | Location::PrimitiveId) {
            return fault("v4 and v5 have no place for it");
        }
        Ok(())
    }
}
