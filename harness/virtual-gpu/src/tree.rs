//! The part of the file system that the virtual GPU shows: its node, and what sysfs says of it.

use std::ffi::CStr;

use crate::sys;
use crate::wire::VARIABLE;

/// Major and minor number of the node.
const NUMBERS: (u64, u64) = (226, 128);

/// Where the node is.
pub(crate) const NODE: &str = "/dev/dri/renderD128";

/// The PCI device's folder.
pub(crate) const DEVICE: &str = "/sys/devices/pci0000:00/0000:c1:00.0";

/// The same folder by the node's numbers.
const BY_NUMBERS: &str = "/sys/dev/char/226:128/device";

/// The PCI slot.
const SLOT: &str = "0000:c1:00.0";

/// What lies under these belongs to the virtual GPU alone: entries of real GPUs are not seen there.
const OURS: [&str; 4] = ["/dev/dri", "/sys/dev/char/226:", "/sys/class/drm", DEVICE];

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A folder with these names in it.
    Folder(&'static [&'static CStr]),
    /// A file.
    File(Text),
    /// A symbolic link.
    Link(&'static str),
    /// The node.
    Node,
}

/// What a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// This.
    Is(&'static str),
    /// The PCI device number.
    Device,
    /// The PCI revision.
    Revision,
    /// The PCI device's events.
    DeviceEvents,
}

/// Entries by path; a path under the folder by numbers is looked up under the device's folder.
static ENTRIES: [(&str, &str, Entry); 18] = [
    ("/dev/dri", "", Entry::Folder(&[c"renderD128"])),
    (NODE, "", Entry::Node),
    ("/sys/class/drm", "", Entry::Folder(&[c"renderD128"])),
    ("/sys/class/drm/renderD128", "", Entry::Link("../../devices/pci0000:00/0000:c1:00.0/drm/renderD128")),
    ("/sys/dev/char/226:128", "", Entry::Folder(&[c"device", c"uevent"])),
    ("/sys/dev/char/226:128", "/uevent", Entry::File(NODE_EVENTS)),
    (DEVICE, "", Entry::Folder(&[c"drm", c"vendor", c"device", c"revision", c"uevent", c"subsystem"])),
    (DEVICE, "/drm", Entry::Folder(&[c"renderD128"])),
    (DEVICE, "/drm/renderD128", Entry::Folder(&[c"uevent", c"dev"])),
    (DEVICE, "/drm/renderD128/uevent", Entry::File(NODE_EVENTS)),
    (DEVICE, "/drm/renderD128/dev", Entry::File(Text::Is("226:128\n"))),
    (DEVICE, "/vendor", Entry::File(Text::Is("0x1002\n"))),
    (DEVICE, "/device", Entry::File(Text::Device)),
    (DEVICE, "/subsystem_vendor", Entry::File(Text::Is("0x1002\n"))),
    (DEVICE, "/subsystem_device", Entry::File(Text::Is("0x0000\n"))),
    (DEVICE, "/revision", Entry::File(Text::Revision)),
    (DEVICE, "/uevent", Entry::File(Text::DeviceEvents)),
    (DEVICE, "/subsystem", Entry::Link("../../../bus/pci")),
];

const NODE_EVENTS: Text = Text::Is("MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n");

/// What a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing of ours.
    Real,
    /// Ours, and there is nothing.
    Missing,
    /// Ours.
    Entry(Entry),
}

/// Looks a path up.
pub(crate) fn find(path: &[u8]) -> Found {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    // Nearly every path ends here.
    if !(path.starts_with(b"/dev/d") || path.starts_with(b"/sys/"))
        || !OURS.iter().any(|p| path.starts_with(p.as_bytes()))
    {
        return Found::Real;
    }
    let (folder, rest) = match path.strip_prefix(BY_NUMBERS.as_bytes()) {
        Some(rest) => (DEVICE.as_bytes(), rest),
        None => (path, &b""[..]),
    };
    let is = |entry: &&(&str, &str, Entry)| {
        let (a, b, _) = **entry;
        let whole = folder.iter().chain(rest);
        whole.eq(a.as_bytes().iter().chain(b.as_bytes()))
    };
    ENTRIES.iter().find(is).map_or(Found::Missing, |(_, _, entry)| Found::Entry(*entry))
}

/// The path without symbolic links of an entry that is a folder, a file or the node.
pub(crate) fn real_path(path: &[u8]) -> Vec<u8> {
    match path.strip_prefix(BY_NUMBERS.as_bytes()) {
        Some(rest) => [DEVICE.as_bytes(), rest].concat(),
        None => path.to_vec(),
    }
}

/// The device number of the node as `stat` has it.
pub(crate) const fn device_number() -> u64 {
    (NUMBERS.0 << 8) | NUMBERS.1
}

/// What a file says.
pub(crate) fn contents(text: Text) -> Vec<u8> {
    let field = |place| std::str::from_utf8(setting(place)).unwrap_or("0");
    let (device, revision) = (field(Setting::Device), field(Setting::Revision));
    match text {
        Text::Is(text) => text.into(),
        Text::Device => format!("0x{device}\n").into(),
        Text::Revision => format!("0x{revision}\n").into(),
        Text::DeviceEvents => {
            let device = device.to_uppercase();
            format!("DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:{device}\nPCI_SUBSYS_ID=1002:0000\nPCI_SLOT_NAME={SLOT}\n").into()
        }
    }
}

/// The fields of [`VARIABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The executor's socket name.
    Socket,
    /// The executor's process.
    Process,
    /// The descriptor of the memory file in that process.
    Memory,
    /// PCI device.
    Device,
    /// PCI revision.
    Revision,
}

/// A field of the variable, empty if the program was not started with one.
pub(crate) fn setting(which: Setting) -> &'static [u8] {
    let mut name = [0; VARIABLE.len() + 1];
    name[..VARIABLE.len()].copy_from_slice(VARIABLE.as_bytes());
    let value = CStr::from_bytes_until_nul(&name).ok().and_then(sys::variable).unwrap_or_default();
    value.split(|b| *b == b',').nth(which as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_virtual_gpus_entries_are_ours() {
        for real in ["/dev/null", "/dev/disk", "/sys/devices/system/cpu", "/sys/class/net", "dev/dri", ""] {
            assert_eq!(find(real.as_bytes()), Found::Real, "{real}");
        }
        for missing in
            ["/dev/dri/card0", "/dev/dri/renderD129", "/sys/dev/char/226:0", "/sys/class/drm/card0"]
        {
            assert_eq!(find(missing.as_bytes()), Found::Missing, "{missing}");
        }
        assert_eq!(find(b"/dev/dri/renderD128"), Found::Entry(Entry::Node));
        assert_eq!(find(b"/dev/dri/"), Found::Entry(Entry::Folder(&[c"renderD128"])));
    }

    #[test]
    fn the_device_is_found_by_its_place_and_by_its_numbers() {
        for name in ["", "/vendor", "/uevent", "/drm", "/drm/renderD128/dev"] {
            let [place, numbers] = [DEVICE, BY_NUMBERS].map(|folder| [folder, name].concat());
            assert_eq!(find(place.as_bytes()), find(numbers.as_bytes()), "{name}");
            assert!(matches!(find(place.as_bytes()), Found::Entry(_)), "{name}");
            assert_eq!(real_path(numbers.as_bytes()), place.as_bytes());
        }
    }

    #[test]
    fn every_name_in_a_folder_is_an_entry() {
        for (a, b, entry) in ENTRIES {
            let Entry::Folder(names) = entry else { continue };
            for name in names {
                let path = [a.as_bytes(), b.as_bytes(), b"/", name.to_bytes()].concat();
                assert!(matches!(find(&path), Found::Entry(_)), "{}", String::from_utf8_lossy(&path));
            }
        }
    }
}
