//! The GPUs that can be shown, and what the kernel says about each.

use crate::replay::GPUS;
use guestwave_cp::Isa;

/// A GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name, as captures and `--gpu` have it.
    pub name: &'static str,
    /// Column of the table of device information.
    column: usize,
    /// GB_ADDR_CONFIG: how many pipes, and how they share memory.
    pub gb_addr_config: u32,
    /// Minor version of its graphics block, GFX10.x.
    pub gfx_minor: u32,
}

/// The GPUs by name.
pub static MODELS: [Model; 2] = [
    Model { name: "navi21", column: 3, gb_addr_config: 0x444, gfx_minor: 3 },
    Model { name: "navi10", column: 4, gb_addr_config: 0x44, gfx_minor: 1 },
];

/// Rows of field, offset, bytes, and a column a GPU.
static DEVICE_INFO: &str = include_str!("tables/device_info.tsv");

/// Bytes of the device information.
const INFO_BYTES: usize = 368;

/// A field that other code needs by name.
const FIELDS: [(usize, usize); 2] = [(0, 4), (12, 4)];

impl Model {
    /// The GPU of that name.
    pub fn named(name: &str) -> Option<&'static Model> {
        MODELS.iter().find(|m| m.name == name)
    }

    /// Its instruction set.
    pub fn isa(&self) -> Isa {
        GPUS.iter().find(|(name, _)| *name == self.name).map_or(Isa::Gfx1030, |(_, isa)| *isa)
    }

    /// `struct drm_amdgpu_info_device`.
    pub fn device_info(&self) -> Vec<u8> {
        let mut info = vec![0; INFO_BYTES];
        for row in DEVICE_INFO.lines().skip(2) {
            let cells: Vec<_> = row.split('\t').collect();
            let number = |i: usize| cells.get(i).and_then(|cell| parse(cell)).unwrap_or(0);
            let (at, bytes) = (number(1) as usize, number(2) as usize);
            if let Some(place) = info.get_mut(at..at + bytes) {
                place.copy_from_slice(&number(self.column).to_le_bytes()[..bytes]);
            }
        }
        info
    }

    /// PCI device and revision.
    pub fn pci(&self) -> [u32; 2] {
        let info = self.device_info();
        FIELDS.map(|(at, bytes)| {
            let mut word = [0; 4];
            word[..bytes].copy_from_slice(&info[at..at + bytes]);
            u32::from_le_bytes(word)
        })
    }
}

fn parse(cell: &str) -> Option<u64> {
    match cell.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => cell.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::capture::{Record, load};

    /// What a driver was told when the captures were made.
    #[test]
    fn device_information_is_that_of_the_captures() {
        for capture in ["points_interleaved", "navi10_points_interleaved"] {
            let file = format!("{}/captures/{capture}.cap.zst", env!("CARGO_MANIFEST_DIR"));
            let capture = load(Path::new(&file)).unwrap();
            let told = capture.records.iter().find_map(|r| match r {
                Record::Device(info) => Some(info),
                _ => None,
            });
            let model = Model::named(&capture.gpu).unwrap();
            assert_eq!(Some(&model.device_info()), told, "{}", capture.gpu);
        }
    }

    #[test]
    fn every_model_has_an_instruction_set_and_a_pci_device() {
        let pci: Vec<_> = MODELS.iter().map(|m| (m.isa(), m.pci())).collect();
        assert_eq!(pci, [(Isa::Gfx1030, [0x73bf, 0xc1]), (Isa::Gfx1010, [0x731f, 0xc1])]);
        assert_eq!(Model::named("navi33"), None);
    }
}
