//! Versions of the architecture.

use crate::Refusal;

/// A version of the architecture: 4 to 7, 9 to 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u8);

/// Versions that handle attributes and varyings alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// v4 and v5.
    Midgard,
    /// v6 and v7.
    Bifrost,
    /// v9 and later, 5th generation included.
    Valhall,
}

/// Names of GPUs with their versions; drivers' product ids in decimal, as traces name them, stand beside.
const GPUS: [(&str, &str, u8); 7] = [
    ("t760", "750", 5),
    ("t860", "860", 5),
    ("t720", "720", 4),
    ("g72", "6221", 6),
    ("g52", "7212", 7),
    ("g57", "9093", 9),
    ("g610", "a867", 10),
];

impl Version {
    /// The version of this number.
    ///
    /// # Errors
    /// [`Refusal::MaliVersion`] if there is none.
    pub fn new(number: u8) -> Result<Self, Refusal> {
        match number {
            4..=7 | 9..=14 => Ok(Version(number)),
            _ => Err(Refusal::MaliVersion { version: number.to_string() }),
        }
    }

    /// The version that `name` names: `v9`, `9`, a GPU (`g57`) or a product id (`9093`).
    ///
    /// # Errors
    /// [`Refusal::MaliVersion`] if nothing is called so.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        let lower = name.to_ascii_lowercase();
        let gpu = GPUS.iter().find(|(gpu, id, _)| *gpu == lower || *id == lower);
        let number = gpu.map_or_else(|| lower.trim_start_matches('v').parse().unwrap_or(0), |g| g.2);
        Version::new(number).map_err(|_| Refusal::MaliVersion { version: name.to_owned() })
    }

    /// The number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The generation.
    pub fn generation(self) -> Generation {
        match self.0 {
            ..=5 => Generation::Midgard,
            6..=7 => Generation::Bifrost,
            _ => Generation::Valhall,
        }
    }
}
