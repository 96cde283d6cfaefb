//! The kernel descriptor: 64 bytes that tell how a kernel's waves start.

use guestwave_cp::ScalarRule;

use super::KernelError;

/// Bytes of a descriptor.
pub(super) const BYTES: usize = 64;

/// A run of bits in one of the descriptor's words.
#[derive(Clone, Copy)]
struct Bits {
    word: usize,
    first: u32,
    len: u32,
}

const fn bits(word: usize, first: u32, len: u32) -> Bits {
    Bits { word, first, len }
}

/// Words of a descriptor.
const RSRC3: usize = 11;
const RSRC1: usize = 12;
const RSRC2: usize = 13;
const PROPERTIES: usize = 14;

const FLOAT_MODE: Bits = bits(RSRC1, 12, 8);
const DX10_CLAMP: Bits = bits(RSRC1, 21, 1);
const IEEE: Bits = bits(RSRC1, 23, 1);
const PRIVATE_SEGMENT: Bits = bits(RSRC2, 0, 1);
const USER_SGPRS: Bits = bits(RSRC2, 1, 5);
const GROUP_IDS: Bits = bits(RSRC2, 7, 3);
const GROUP_INFO: Bits = bits(RSRC2, 10, 1);
const THREAD_IDS: Bits = bits(RSRC2, 11, 2);
const WAVE32: Bits = bits(PROPERTIES, 10, 1);

/// Bits that ask for what is not carried out.
const UNSUPPORTED: [(Bits, &str); 6] = [
    (bits(RSRC1, 26, 1), "clamping of half-precision overflow (FP16_OVFL)"),
    (bits(RSRC2, 6, 1), "a trap handler"),
    (bits(RSRC3, 0, 4), "shared VGPRs"),
    (bits(PROPERTIES, 2, 1), "the address of its queue"),
    (bits(PROPERTIES, 11, 1), "a dynamic stack"),
    (bits(PROPERTIES, 16, 16), "arguments preloaded into registers"),
];

/// What the first registers of a wave may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UserData {
    /// The buffer descriptor of the private segment.
    PrivateBuffer,
    /// Address of the dispatch packet.
    Packet,
    /// Address of the queue.
    Queue,
    /// Address of the argument segment.
    Kernarg,
    /// Number of the dispatch.
    DispatchId,
    /// First value of FLAT_SCRATCH.
    FlatScratch,
    /// Bytes of a lane's private segment.
    PrivateBytes,
}

/// Bit of the properties, what it puts into the next registers, and how many.
const USER_DATA: [(u32, UserData, u32); 7] = [
    (0, UserData::PrivateBuffer, 4),
    (1, UserData::Packet, 2),
    (2, UserData::Queue, 2),
    (3, UserData::Kernarg, 2),
    (4, UserData::DispatchId, 2),
    (5, UserData::FlatScratch, 2),
    (6, UserData::PrivateBytes, 1),
];

/// A kernel's descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    words: [u32; BYTES / 4],
}

impl Descriptor {
    pub(super) fn new(bytes: &[u8; BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        Descriptor { words: std::array::from_fn(|i| words.get(i).map_or(0, |w| u32::from_le_bytes(*w))) }
    }

    /// The descriptor as it stands in the file.
    #[cfg(test)]
    pub(super) fn as_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    fn get(&self, bits: Bits) -> u32 {
        self.words[bits.word] >> bits.first & ((1 << bits.len) - 1)
    }

    fn is_set(&self, bits: Bits) -> bool {
        self.get(bits) != 0
    }

    /// Bytes of LDS of a work-group.
    pub(super) fn lds_bytes(&self) -> u32 {
        self.words[0]
    }

    /// Bytes of a lane's private segment.
    pub(super) fn private_bytes(&self) -> u32 {
        self.words[1]
    }

    /// From the descriptor's address to the first instruction.
    pub(super) fn entry(&self) -> i64 {
        (u64::from(self.words[4]) | u64::from(self.words[5]) << 32) as i64
    }

    /// Lanes of a wave.
    pub(super) fn wave_lanes(&self) -> u8 {
        if self.is_set(WAVE32) { 32 } else { 64 }
    }

    /// FLOAT_MODE, DX10_CLAMP and IEEE_MODE.
    pub(super) fn modes(&self) -> (u8, bool, bool) {
        (self.get(FLOAT_MODE) as u8, self.is_set(DX10_CLAMP), self.is_set(IEEE))
    }

    /// Last axis along which lanes get their thread's id.
    pub(super) fn last_thread_id(&self) -> u8 {
        self.get(THREAD_IDS) as u8
    }

    /// Whether waves get their place in the private segment's ring.
    pub(super) fn has_private_offset(&self) -> bool {
        self.is_set(PRIVATE_SEGMENT)
    }

    pub(super) fn wants(&self, what: UserData) -> bool {
        self.user_data().any(|(data, _)| data == what)
    }

    /// What stands in the first registers, and in how many.
    fn user_data(&self) -> impl Iterator<Item = (UserData, u32)> + '_ {
        let on = |bit: u32| self.words[PROPERTIES] >> bit & 1 != 0;
        USER_DATA.iter().filter(move |(bit, ..)| on(*bit)).map(|(_, data, count)| (*data, *count))
    }

    /// The rules of the first scalar registers; `words` gives the words of each of the user data.
    pub(super) fn scalars(
        &self,
        words: impl Fn(UserData) -> Vec<u32>,
        private: ScalarRule,
    ) -> Vec<ScalarRule> {
        let user = self.user_data().flat_map(|(data, _)| words(data)).map(ScalarRule::Word);
        let mut rules: Vec<ScalarRule> = user.collect();
        rules.resize(self.get(USER_SGPRS) as usize, ScalarRule::Word(0));
        let ids = self.get(GROUP_IDS);
        rules.extend((0..3).filter(|axis| ids >> axis & 1 != 0).map(ScalarRule::GroupId));
        rules.extend(self.is_set(GROUP_INFO).then_some(ScalarRule::GroupSize));
        rules.extend(self.has_private_offset().then_some(private));
        rules
    }

    /// Refuses what is not carried out and what contradicts itself.
    pub(super) fn check(&self, kernel: &str) -> Result<(), KernelError> {
        let kernel = || kernel.to_owned();
        if let Some((_, what)) = UNSUPPORTED.iter().find(|(bits, _)| self.is_set(*bits)) {
            return Err(KernelError::Unsupported { kernel: kernel(), what: (*what).to_owned() });
        }
        let user: u32 = self.user_data().map(|(_, count)| count).sum();
        if user > self.get(USER_SGPRS) {
            let what = "asks for more user data than it has registers for";
            return Err(KernelError::Descriptor { kernel: kernel(), what });
        }
        if self.last_thread_id() > 2 {
            return Err(KernelError::Descriptor { kernel: kernel(), what: "asks for a fourth thread id" });
        }
        if self.entry() & 3 != 0 {
            return Err(KernelError::Descriptor { kernel: kernel(), what: "has a misaligned entry" });
        }
        Ok(())
    }
}
