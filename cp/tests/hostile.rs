//! Streams that no driver would write: whatever they are, the walk ends, nothing panics, and what is refused has a code.

mod support;

use guestwave_cp::amd::decode::packets;
use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Limits, Ring};
use guestwave_cp::refusal::CATALOGUE;
use guestwave_cp::{Interest, Isa, Observer};
use proptest::prelude::*;
use support::*;

/// Wants everything and looks at nothing.
struct Nosy;

impl Observer for Nosy {
    fn interest(&self) -> Interest {
        Interest::ALL
    }
}

/// Small enough that a stream of loops is quick, large enough for every packet.
const LIMITS: Limits = Limits { call_depth: 3, chained: 8, dwords: 1 << 16, bytes: 1 << 24 };

fn walk(words: &[u32], ring: Ring) {
    let cp = CommandProcessor::new(Config { limits: LIMITS, ..Config::new(Isa::Gfx1030) });
    let mut guest = Guest::with(cp);
    let ib = guest.load(BASE, words);
    let ib = IndirectBuffer { dwords: ib.dwords + 3, ..ib };
    let report = guest.submit_to(ring, &[ib, ib], &mut Nosy);
    for refused in &report.refusals {
        let code = refused.refusal.code();
        assert!(CATALOGUE.iter().any(|e| e.code == code), "{code} is not in the catalogue");
        assert!(!refused.to_string().is_empty());
    }
    assert!(report.refusals.iter().rev().skip(1).all(|r| !r.stopped), "only the last refusal stops");
}

/// An address that often means something.
fn address() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(BASE as u32),
        (0..64u32).prop_map(|i| BASE as u32 + 4 * i),
        (0..64u32).prop_map(|i| DATA as u32 + i),
        Just((BASE as u32) + SIZE as u32 - 8),
        (0xb000u32 / 4..0xc000 / 4),
        (0x28000u32 / 4..0x40000 / 4),
        any::<u32>(),
    ]
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![address(), 0..16u32, Just(0), (0..32u32).prop_map(|i| 1 << i), any::<u32>()]
}

/// A packet with a well-formed header, an opcode that has a row more often than not, and any body.
fn any_packet() -> impl Strategy<Value = Vec<u32>> {
    const OPCODES: &[u8] = &[
        0x10, 0x11, 0x12, 0x15, 0x16, 0x1e, 0x20, 0x22, 0x24, 0x26, 0x27, 0x28, 0x2a, 0x2d, 0x2f, 0x34, 0x37,
        0x3c, 0x3f, 0x40, 0x45, 0x46, 0x49, 0x50, 0x51, 0x58, 0x59, 0x5e, 0x5f, 0x61, 0x63, 0x64, 0x9f, 0x68,
        0x69, 0x76, 0x79, 0x7a, 0x9b, 0x93,
    ];
    let opcode = prop_oneof![8 => proptest::sample::select(OPCODES), 1 => any::<u8>()];
    (opcode, proptest::collection::vec(word(), 1..12), any::<bool>()).prop_map(|(opcode, body, predicate)| {
        let mut words = packet(opcode, &body);
        words[0] |= u32::from(predicate);
        words
    })
}

fn ring() -> impl Strategy<Value = Ring> {
    prop_oneof![Just(Ring::Gfx), Just(Ring::Compute)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_dwords_end(words in proptest::collection::vec(any::<u32>(), 0..200), ring in ring()) {
        walk(&words, ring);
    }

    #[test]
    fn random_packets_end(stream in proptest::collection::vec(any_packet(), 0..40), ring in ring()) {
        walk(&stream.concat(), ring);
    }

    #[test]
    fn each_random_packet_is_met(stream in any_packet()) {
        walk(&stream, Ring::Gfx);
    }

    #[test]
    fn views_cover_every_dword_once(words in proptest::collection::vec(word(), 0..200)) {
        let mut at = 0;
        for view in packets(&words) {
            prop_assert_eq!(view.offset as usize, at * 4);
            at += 1 + view.body.len();
            prop_assert!(!view.name().is_empty());
            prop_assert!(view.truncated || view.body.len() == view.header.body_dwords() as usize);
            prop_assert!(view.fields().all(|f| (f.dword as usize) < view.body.len()));
            prop_assert!(view.register_writes().count() <= view.body.len());
            let _ = (view.event(), view.indirect_buffer(), view.treatment());
        }
        prop_assert_eq!(at, words.len());
    }
}
