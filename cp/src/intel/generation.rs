//! Hardware generations.

/// A generation of the render engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are the generations' own names")]
pub enum Gen {
    Gen7,
    Gen75,
    Gen8,
    Gen9,
    Gen11,
    Gen12,
}

impl Gen {
    /// All of them, oldest first.
    pub const ALL: [Gen; 6] = [Gen::Gen7, Gen::Gen75, Gen::Gen8, Gen::Gen9, Gen::Gen11, Gen::Gen12];

    /// The generation that a number names: `7`, `75` or `7.5`, `8`, `9`, `11`, `12`.
    pub fn named(name: &str) -> Option<Gen> {
        const NAMES: [(&str, Gen); 7] = [
            ("7", Gen::Gen7),
            ("7.5", Gen::Gen75),
            ("75", Gen::Gen75),
            ("8", Gen::Gen8),
            ("9", Gen::Gen9),
            ("11", Gen::Gen11),
            ("12", Gen::Gen12),
        ];
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, generation)| *generation)
    }

    /// Its bit in the masks of the packet table.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Whether addresses in packets have two dwords.
    pub const fn wide(self) -> bool {
        self as u8 >= Gen::Gen8 as u8
    }
}

impl std::fmt::Display for Gen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NAMES: [&str; 6] = ["Gen7", "Gen7.5", "Gen8", "Gen9", "Gen11", "Gen12"];
        f.write_str(NAMES[*self as usize])
    }
}
