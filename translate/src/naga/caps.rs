//! What a module may rely on from the host that runs it.

/// A host, as its start-up probe found it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostCaps {
    /// How its floats behave.
    pub floats: FloatCaps,
    /// Whether 64-bit atomics are there.
    pub atomics64: bool,
    /// Lanes of a subgroup, if they are always as many and follow each other in an invocation's number.
    pub subgroup: Option<u32>,
    /// After how many iterations the host ends loops by itself.
    pub loops: Option<LoopLimit>,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Whether the host divides integers much more slowly than floats.
    pub slow_integer_division: bool,
    /// Whether the host runs what a branch guards even if no invocation takes it.
    pub runs_all_branches: bool,
    /// Whether four words at once cost the host less than one after another.
    pub fours: bool,
    /// Invocations that a workgroup should have if it is free to choose.
    pub preferred_invocations: u32,
}

/// A host that ends loops by itself, in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopLimit {
    /// Iterations of all loops that run together.
    pub iterations: u32,
    /// Invocations that count them together.
    pub together: u32,
}

/// Whether the host's operation is the one wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FloatCaps {
    /// `Fma` of f32 rounds once.
    pub fma32: bool,
    /// It does so where neither an operand nor the result is a denormal.
    pub fma32_normal: bool,
    /// `Fma` of f64 rounds once.
    pub fma64: bool,
    /// f32 division is correctly rounded, denormals included.
    pub div32: bool,
    /// f32 square root likewise.
    pub sqrt32: bool,
    /// f64 division likewise.
    pub div64: bool,
    /// f64 square root likewise.
    pub sqrt64: bool,
    /// f32 comparisons see denormals.
    pub compare32: bool,
    /// f32 addition and multiplication are correctly rounded and keep denormals.
    pub arithmetic32: bool,
    /// f64 addition and multiplication likewise.
    pub arithmetic64: bool,
    /// f64 to f32 rounds to nearest even and keeps denormals.
    pub narrow64: bool,
    /// f32 to f64 is exact, denormals included.
    pub widen32: bool,
    /// Float-control execution modes that the device reports.
    pub modes: FloatModes,
}

/// Float-control execution modes, for 32 and 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FloatModes {
    /// DenormPreserve.
    pub denorm_preserve: [bool; 2],
    /// SignedZeroInfNanPreserve.
    pub zero_inf_nan_preserve: [bool; 2],
    /// RoundingModeRTE.
    pub round_to_even: [bool; 2],
}

impl FloatCaps {
    /// What keeps the host from giving the reference's bits, if anything does.
    pub fn inexact(&self) -> Option<&'static str> {
        let needs = [
            (self.arithmetic32, "f32 addition or multiplication is not IEEE"),
            (self.arithmetic64, "f64 addition or multiplication is not IEEE"),
            (self.narrow64, "f64 to f32 is not correctly rounded"),
            (self.div64, "f64 division is not correctly rounded"),
            (self.sqrt64, "f64 square root is not correctly rounded"),
        ];
        needs.iter().find(|(good, _)| !good).map(|(_, what)| *what)
    }
}
