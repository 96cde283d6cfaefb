//! Packets that move dwords between registers and memory.

use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};
use super::registers::ADDRESS_BITS;

/// Address of a packet whose address field is one dword on Gen7 and two later.
macro_rules! address {
    ($cx:expr, $packet:expr, $narrow:ident, $wide:ident) => {
        match $cx.generation().wide() {
            true => $packet.get64(field::$wide::ADDRESS_LO, field::$wide::ADDRESS_HI) & !3,
            false => u64::from($packet.get(field::$narrow::ADDRESS) & !3),
        }
    };
}

/// MI_LOAD_REGISTER_IMM: register and value, again and again.
pub(crate) fn load_register_imm(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::LOAD_REGISTER_IMM as F;
    let disabled = packet.get(F::BYTE_WRITE_DISABLES);
    if disabled != 0 {
        return Err(super::Refusal::BytesOfRegister { disabled });
    }
    let pairs = packet.groups::<2>(F::REGISTER_AND_DATA)?;
    let writes = pairs.iter().map(|[register, value]| (register & ADDRESS_BITS, *value));
    cx.write_registers(packet.at, writes)?;
    Ok(Flow::Next)
}

/// MI_LOAD_REGISTER_MEM.
pub(crate) fn load_register_mem(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::LOAD_REGISTER_MEM_8 as F;
    packet.own_addresses(F::USE_GGTT)?;
    let address = address!(cx, packet, LOAD_REGISTER_MEM_7, LOAD_REGISTER_MEM_8);
    let value = cx.read_u32(address)?;
    cx.write_registers(packet.at, [(packet.get(F::REGISTER) & ADDRESS_BITS, value)])?;
    Ok(Flow::Next)
}

/// MI_LOAD_REGISTER_REG.
pub(crate) fn load_register_reg(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::LOAD_REGISTER_REG as F;
    let value = read(cx, packet.get(F::SOURCE))?;
    cx.write_registers(packet.at, [(packet.get(F::DESTINATION) & ADDRESS_BITS, value)])?;
    Ok(Flow::Next)
}

/// MI_STORE_REGISTER_MEM.
pub(crate) fn store_register_mem(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::STORE_REGISTER_MEM_8 as F;
    packet.own_addresses(F::USE_GGTT)?;
    if packet.flag(F::PREDICATE) {
        return Err(packet.bad("PREDICATE", 1));
    }
    let address = address!(cx, packet, STORE_REGISTER_MEM_7, STORE_REGISTER_MEM_8);
    let value = read(cx, packet.get(F::REGISTER))?;
    cx.write(packet.at, address, &value.to_le_bytes())?;
    Ok(Flow::Next)
}

/// A register; the clock is read when it is.
fn read(cx: &mut Context<'_>, register: u32) -> Result<u32, super::Refusal> {
    let register = register & ADDRESS_BITS;
    if register == super::registers::reg::TIMESTAMP {
        let now = (cx.parts.clock)();
        cx.state.registers.set64(register, now);
    }
    cx.read_register(register)
}

/// MI_STORE_DATA_IMM: dwords, or with QWORD set pairs of them.
pub(crate) fn store_data_imm(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::STORE_DATA_IMM_7 as F7;
    packet.own_addresses(F7::USE_GGTT)?;
    let address = address!(cx, packet, STORE_DATA_IMM_7, STORE_DATA_IMM_8);
    let data: Vec<u8> = packet.tail(F7::DATA).iter().flat_map(|word| word.to_le_bytes()).collect();
    cx.write(packet.at, address, &data)?;
    Ok(Flow::Next)
}

/// MI_COPY_MEM_MEM: one dword.
pub(crate) fn copy_mem_mem(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::COPY_MEM_MEM as F;
    packet.own_addresses(F::USE_GGTT_SOURCE)?;
    packet.own_addresses(F::USE_GGTT_DESTINATION)?;
    let value = cx.read_u32(packet.get64(F::SOURCE_LO, F::SOURCE_HI) & !3)?;
    let destination = packet.get64(F::DESTINATION_LO, F::DESTINATION_HI) & !3;
    cx.write(packet.at, destination, &value.to_le_bytes())?;
    Ok(Flow::Next)
}
