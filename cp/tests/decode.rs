//! Packets as inspection sees them.

mod support;

use guestwave_cp::amd::decode::{FieldView, Treatment, packets};
use guestwave_cp::amd::{IndirectBuffer, reg};
use support::*;

#[test]
fn fields_have_their_names_and_values() {
    let stream = packet(0x3c, &[0x13, 0x1000, 0x8000, 5, 0xff, 4]);
    let view = packets(&stream).next().unwrap();
    assert_eq!(view.name(), "WAIT_REG_MEM");
    let fields: Vec<_> = view.fields().map(|f| (f.name, f.value)).collect();
    assert_eq!(
        fields,
        [
            ("FUNCTION", 3),
            ("MEM_SPACE", 1),
            ("OPERATION", 0),
            ("ENGINE", 0),
            ("POLL_ADDRESS_LO", 0x1000),
            ("POLL_ADDRESS_HI", 0x8000),
            ("REFERENCE", 5),
            ("MASK", 0xff),
            ("POLL_INTERVAL", 4)
        ]
    );
}

#[test]
fn repeated_fields_come_once_a_dword() {
    let stream = write_memory(DATA, &[7, 8]);
    let view = packets(&stream).next().unwrap();
    let data: Vec<_> = view.fields().filter(|f| f.name == "DATA").collect();
    assert_eq!(data[1], FieldView { name: "DATA", dword: 4, hi: 31, lo: 0, value: 8 });
    assert_eq!(data.len(), 2);
    assert_eq!(view.register_writes().count(), 0);
}

#[test]
fn register_writes_are_named() {
    let streams = [
        set_sh(reg::COMPUTE_DIM_X.0, &[1, 2]),
        packet(WRITE_DATA, &[0, reg::CP_STRMOUT_CNTL.0 / 4, 0, 3]),
        packet(0x7a, &[(1 << 28) | ((reg::VGT_PRIMITIVE_TYPE.0 - 0x30000) / 4), 4]),
        vec![reg::VGT_INDEX_TYPE.0 / 4, 1],
    ];
    let stream = streams.concat();
    let writes: Vec<_> = packets(&stream)
        .flat_map(|v| v.register_writes().map(|(r, v)| (r.to_string(), v)).collect::<Vec<_>>())
        .collect();
    let names: Vec<_> = writes.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(
        names,
        [
            ("COMPUTE_DIM_X", 1),
            ("COMPUTE_DIM_Y", 2),
            ("CP_STRMOUT_CNTL", 3),
            ("VGT_PRIMITIVE_TYPE", 4),
            ("VGT_INDEX_TYPE", 1)
        ]
    );
}

#[test]
fn events_buffers_and_treatments() {
    let target = IndirectBuffer { address: DATA, dwords: 9 };
    let stream = [
        packet(0x46, &[31]),
        call(target, true),
        packet(0x42, &[0]),
        packet(0x47, &[0; 5]),
        vec![0xc000_ff00],
    ];
    let stream = stream.concat();
    let views: Vec<_> = packets(&stream).collect();
    assert_eq!(views[0].event(), Some("SO_VGTSTREAMOUT_FLUSH"));
    assert_eq!(views[1].indirect_buffer(), Some((target, true)));
    assert!(matches!(views[2].treatment(), Treatment::Inert(_)));
    assert!(matches!(views[3].treatment(), Treatment::Refused(_)));
    assert_eq!((views[4].name().as_ref(), views[4].truncated), ("OPCODE_FF", true));
    assert_eq!(views[0].treatment(), Treatment::CarriedOut);
}

#[test]
fn every_row_of_the_packet_table_is_found_by_its_opcode() {
    let table = include_str!("../tables/amd/packets.tsv");
    let mut rows = 0;
    for line in table.lines().filter(|l| l.starts_with("0x")) {
        let cells: Vec<_> = line.split('\t').collect();
        let opcode = u8::from_str_radix(cells[0].trim_start_matches("0x"), 16).unwrap();
        let stream = packet(opcode, &[0; 16]);
        let view = packets(&stream).next().unwrap();
        assert_eq!(view.name(), cells[1]);
        assert_eq!(view.treatment() == Treatment::CarriedOut, cells[5].starts_with("run "), "{line}");
        assert_eq!(view.source(), Some(cells[6]), "{line}");
        rows += 1;
    }
    assert!(rows > 60);
}
