//! The register block of a tuple: which registers its four ports reach, and the uniform or constant it reads.

use std::sync::LazyLock;

/// A register block, 35 bits.
///
/// | bits | what |
/// |---|---|
/// | 0..7 | the fast-access uniform, constant or special value that both units may read |
/// | 8..13, 14..19 | registers of ports 3 and 2 |
/// | 20..24, 25..30 | registers of ports 0 and 1, ordered so that five and six bits tell both |
/// | 31..34 | control; 0 if at most port 0 reads, whose control then stands in port 1's bits |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ports(u64);

/// What a port does in a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortUse {
    /// Nothing.
    Idle,
    /// Reads its register for this tuple.
    Read,
    /// Writes the result of the tuple before.
    Write,
    /// Writes its low half.
    Low,
    /// Writes its high half.
    High,
}

impl PortUse {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, PortUse::Write | PortUse::Low | PortUse::High)
    }
}

/// What ports 2 and 3 do, and whether port 3 writes the FMA unit's result (and not the ADD unit's).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uses {
    /// Port 2.
    pub port2: PortUse,
    /// Port 3.
    pub port3: PortUse,
    /// Whose result port 3 writes.
    pub fma: bool,
}

static USES: LazyLock<[Option<Uses>; 32]> = LazyLock::new(|| {
    let mut table = [None; 32];
    let rows = include_str!("../../../../tables/mali/bifrost/ports.tsv").lines();
    for (code, uses) in rows.filter_map(parse) {
        if let Some(slot) = table.get_mut(code) {
            *slot = Some(uses);
        }
    }
    table
});

fn parse(line: &str) -> Option<(usize, Uses)> {
    let columns: Vec<_> = line.split('\t').collect();
    let [code, port2, port3, unit] = columns[..] else { return None };
    let uses = Uses { port2: port_use(port2)?, port3: port_use(port3)?, fma: unit == "fma" };
    Some((code.parse().ok()?, uses))
}

fn port_use(text: &str) -> Option<PortUse> {
    const NAMES: [(&str, PortUse); 5] = [
        ("idle", PortUse::Idle),
        ("read", PortUse::Read),
        ("write", PortUse::Write),
        ("low", PortUse::Low),
        ("high", PortUse::High),
    ];
    NAMES.iter().find(|(name, _)| *name == text).map(|(_, port)| *port)
}

impl Ports {
    pub(super) fn new(bits: u64) -> Self {
        Ports(bits)
    }

    /// The 35 bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    fn field(self, lowest: u32, width: u32) -> u8 {
        (self.0 >> lowest & ((1 << width) - 1)) as u8
    }

    /// The code of the uniform, constant or special value.
    pub fn fau(self) -> u8 {
        self.field(0, 8)
    }

    /// The register of port 3.
    pub fn register3(self) -> u8 {
        self.field(8, 6)
    }

    /// The register of port 2.
    pub fn register2(self) -> u8 {
        self.field(14, 6)
    }

    /// Whether ports 0 and 1 share one register's bits, because at most port 0 reads.
    fn single(self) -> bool {
        self.field(31, 4) == 0
    }

    /// The register of port 0.
    pub fn register0(self) -> u8 {
        let (first, second) = (self.field(20, 5), self.field(25, 6));
        match self.single() {
            true => first | (second & 1) << 5,
            false if first <= second => first,
            false => 63 - first,
        }
    }

    /// The register of port 1.
    pub fn register1(self) -> u8 {
        let (first, second) = (self.field(20, 5), self.field(25, 6));
        if first <= second { second } else { 63 - second }
    }

    /// Where the control code begins.
    pub(super) fn control_bit(self) -> u32 {
        if self.single() { 27 } else { 31 }
    }

    /// What ports 2 and 3 do; nothing if the control is reserved. `first` for the first tuple of a clause, whose codes mean
    /// other things.
    pub fn uses(self, first: bool) -> Option<Uses> {
        let control = if self.single() { self.field(27, 4) } else { self.field(31, 4) };
        let code = match first {
            true => control & 7 | (control & 8) << 1,
            false if self.register2() == self.register3() => control + 16,
            false => control,
        };
        USES.get(usize::from(code)).copied().flatten()
    }
}
