//! Random sets of varyings, linked: what the vertex shader stores the fragment shader reads back, bit for bit where it is
//! flat and within the stated tolerance where it is smooth, through the very descriptors and offsets that the linker gave.

use guestwave_cp::mali::linker::{
    Access, Base, Element, Form, Layout, Location, Request, Sampling, Section, Stage, Varying, link,
};
use guestwave_cp::mali::{Attribute, Element as Place, Generation, Stride, Version};
use guestwave_isa::format::{self, ELEMENT_BYTES, Register};
use guestwave_isa::mali::interpolate::{TOLERANCE_F16, TOLERANCE_F32, Triangle};
use guestwave_isa::mali::valhall::words;
use guestwave_isa::mali::{bifrost, midgard};

/// Bytes of the memory that a set's varyings lie in, and vertices of its triangle.
const MEMORY: usize = 1 << 16;
const VERTICES: usize = 3;
/// Where varyings begin in a vertex packet.
const PACKET: u64 = 1024;

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// A set of varyings: outputs with inputs that match them, mismatch them or are missing on either side.
fn request(random: &mut Random) -> Request {
    let version = Version::new(random.pick(&[4, 5, 6, 7, 9, 10, 11, 12, 13, 14])).unwrap();
    let count = if random.one_in(4) { 14 + random.below(12) } else { 1 + random.below(8) };
    let mut varyings = Vec::new();
    for n in 0..count as u8 {
        let output = varying(random, Stage::Vertex, n);
        let input = input(random, &output);
        varyings.extend((!random.one_in(12)).then_some(output));
        varyings.extend((!random.one_in(12)).then_some(input));
    }
    if random.one_in(3) {
        let mut position = varying(random, Stage::Vertex, 0);
        position.location = Location::Position;
        (position.components, position.component, position.element) = (4, 0, Element::F32);
        varyings.insert(0, position);
    }
    let separate = random.one_in(3);
    Request { version, varyings, separate, trusted: random.one_in(4), shrink: random.one_in(2) }
}

fn varying(random: &mut Random, stage: Stage, n: u8) -> Varying {
    let base = random.pick(&[Base::Float, Base::Float, Base::Sint, Base::Uint]);
    let bits = if random.one_in(5) { 16 } else { 32 };
    let components = 1 + random.below(4) as u8;
    Varying {
        name: format!("v{n}"),
        stage,
        location: Location::Var(n),
        component: random.below(u64::from(5 - components)) as u8,
        components,
        element: Element { base, bits },
        mediump: random.one_in(3),
        flat: base != Base::Float || random.one_in(3),
        sampling: random.pick(&[Sampling::Center, Sampling::Centroid, Sampling::Sample]),
    }
}

/// An input for an output: mostly of its type, sometimes of another base, size, precision or width.
fn input(random: &mut Random, output: &Varying) -> Varying {
    let mut input = Varying { stage: Stage::Fragment, ..output.clone() };
    if random.one_in(4) {
        input.element.base = random.pick(&[Base::Float, Base::Sint, Base::Uint]);
    }
    if random.one_in(8) {
        input.element.bits = 48 - input.element.bits;
    }
    if random.one_in(5) {
        input.mediump = !input.mediump;
    }
    if random.one_in(4) && input.components > 1 {
        input.components -= 1;
    }
    input.flat = input.element.base != Base::Float || output.flat;
    input
}

fn register(element: Element) -> Register {
    match (element.base, element.bits) {
        (Base::Float, 16) => Register::F16,
        (Base::Float, _) => Register::F32,
        (Base::Sint, 16) => Register::S16,
        (Base::Sint, _) => Register::S32,
        (Base::Uint, 16) => Register::U16,
        (Base::Uint, _) => Register::U32,
    }
}

/// A conversion of values between sizes, by arithmetic of its own: what the shader does around a load or a store.
fn resized(base: Base, bits: u32, from: u8, to: u8) -> u32 {
    match (base, from, to) {
        (Base::Float, 32, 16) => narrowed(f32::from_bits(bits)).into(),
        (Base::Float, 16, 32) => widened(bits as u16).to_bits(),
        (Base::Sint, 16, 32) => i32::from(bits as i16) as u32,
        (_, 32, 16) => bits & 0xffff,
        _ => bits,
    }
}

fn widened(half: u16) -> f32 {
    let (sign, exponent, fraction) = (half >> 15, half >> 10 & 31, f64::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(i32::from(e) - 25),
    };
    (if sign == 1 { -magnitude } else { magnitude }) as f32
}

/// The nearest half float, ties to even, found by bisection over the ordered codes.
fn narrowed(single: f32) -> u16 {
    let sign = if single.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = f64::from(single.abs());
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    let value = |code: u16| if code == 0x7c00 { 65536.0 } else { f64::from(widened(code)) };
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle) <= magnitude { low = middle } else { high = middle }
    }
    let (below, above) = (magnitude - value(low), value(high) - magnitude);
    let up = magnitude >= value(high) || above < below || (above == below && low & 1 == 1);
    sign | if up { high } else { low }
}

/// Values that a shader computes: any bits for flat varyings, numbers for smooth ones.
fn value(random: &mut Random, element: Element, smooth: bool) -> u32 {
    let bits = random.next() as u32;
    match (smooth, element.bits) {
        (false, bits_) => bits & (u32::MAX >> (32 - u32::from(bits_))),
        (true, 32) => ((bits as i32) as f32 / 65536.0).to_bits(),
        (true, _) => narrowed(f32::from(bits as i16) / 64.0).into(),
    }
}

/// The memory of a triangle's outputs and the layout that says where they lie.
struct Machine<'a> {
    request: &'a Request,
    layout: &'a Layout,
    memory: Vec<u8>,
    /// Values of each output, vertex by vertex.
    outputs: Vec<[[u32; 4]; VERTICES]>,
}

impl<'a> Machine<'a> {
    fn new(request: &'a Request, layout: &'a Layout) -> Self {
        let outputs = vec![[[0; 4]; VERTICES]; request.varyings.len()];
        Machine { request, layout, memory: vec![0xcd; MEMORY], outputs }
    }

    fn version(&self) -> u8 {
        self.layout.version.number()
    }

    /// The byte of a vertex's varyings at an offset, where no descriptor says it.
    fn packet(&self, vertex: usize, offset: u32) -> usize {
        (PACKET + vertex as u64 * u64::from(self.layout.generic_bytes) + u64::from(offset)) as usize
    }

    /// The descriptor of an access with the place that it names for a vertex.
    fn described(&self, stage: Stage, index: u32, vertex: usize) -> (u32, usize) {
        let of_stage = self.layout.descriptors.iter().filter(|d| d.stage == stage);
        let words = &of_stage.into_iter().nth(index as usize).unwrap().words;
        let attribute = Attribute::decode(self.layout.version, words).unwrap();
        let element = match attribute.stride {
            Stride::Packet { attribute: a, packet } => {
                Place::packet(0, MEMORY as u64, vertex as u64, (a, packet), attribute.offset)
            }
            _ => {
                let buffer = self.layout.buffers.iter().find(|b| b.index == attribute.buffer).unwrap();
                assert_eq!(buffer.holds, "varyings");
                let base = PACKET;
                Place::linear(base, MEMORY as u64 - base, vertex as u64, buffer.stride, attribute.offset)
            }
        };
        (attribute.format, element.place(16).address as usize)
    }

    /// Runs one vertex's stores of one output.
    fn store(&mut self, index: usize, access: &Access, vertex: usize) {
        let varying = &self.request.varyings[index];
        let own = self.outputs[index][vertex];
        let (first, count) = (usize::from(varying.component), usize::from(varying.components));
        if access.form == Form::StoreBuffer {
            let Section::Generic { offset } = access.section else { return };
            let size = usize::from(access.memory.bits / 8);
            let at = self.packet(vertex, offset);
            for (c, value) in own.into_iter().take(count).enumerate() {
                let bits = resized(varying.element.base, value, varying.element.bits, access.memory.bits);
                self.memory[at + c * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
            return;
        }
        if !matches!(access.section, Section::Generic { .. }) {
            return;
        }
        let (word, at) = self.described(Stage::Vertex, access.descriptor.unwrap(), vertex);
        let format = format::mali(self.version(), word).unwrap().format;
        let mut registers = [0; 4];
        (0..count).for_each(|c| registers[first + c] = own[c].into());
        let kind =
            if varying.element.bits == access.register.bits { access.register } else { varying.element };
        let bytes = format.write(registers, register(kind));
        self.memory[at..at + format.bytes()].copy_from_slice(&bytes[..format.bytes()]);
    }

    /// The registers that a load of one vertex's value gives, the varying's own components first.
    fn load(&self, index: usize, access: &Access, vertex: usize) -> [u32; 4] {
        let varying = &self.request.varyings[index];
        let element: [u8; ELEMENT_BYTES];
        let (format, first) = match access.form {
            Form::Zero => return [0; 4],
            Form::LoadBuffer => {
                let Section::Generic { offset } = access.section else { panic!("no offset") };
                let at = self.packet(vertex, offset);
                element = self.memory[at..at + ELEMENT_BYTES].try_into().unwrap();
                let word = guestwave_cp::mali::linker::format_word(
                    self.layout.version,
                    access.memory,
                    access.components,
                );
                (format::mali(self.version(), word).unwrap().format, 0)
            }
            _ => {
                let (word, at) = self.described(Stage::Fragment, access.descriptor.unwrap(), vertex);
                element = self.memory[at..at + ELEMENT_BYTES].try_into().unwrap();
                (format::mali(self.version(), word).unwrap().format, usize::from(varying.component))
            }
        };
        let registers = format.read(&element, register(access.register));
        // A wider register of an integer is cut to the shader's own size.
        let cut = u32::MAX >> (32 - u32::from(access.memory.bits));
        std::array::from_fn(|c| registers.get(first + c).map_or(0, |r| *r as u32 & cut))
    }
}

/// The output that an input reads, with the components that both have.
fn matching<'a>(request: &'a Request, input: &Varying) -> Option<(usize, &'a Varying)> {
    let mut outputs = request.varyings.iter().enumerate();
    outputs.find(|(_, o)| o.stage == Stage::Vertex && o.location == input.location)
}

/// What an input's component should be at a vertex, from the output's own value, by the rules in words: the slot's size
/// decides, bits stay, values are resized.
fn expected(layout: &Layout, output: &Varying, input: &Varying, value: u32, access: &Access) -> u32 {
    let slot = layout.slot(output.location).unwrap();
    let stored = resized(output.element.base, value, output.element.bits, slot.element.bits);
    match access.converts {
        Some(own) => resized(input.element.base, stored, slot.element.bits, own),
        None => stored,
    }
}

const TRIANGLE: Triangle =
    Triangle { vertices: [(1.0, 2.0), (30.0, 5.0), (7.0, 28.0)], inverse_w: [1.0, 0.25, 0.625] };

/// A number of an element of `bits` bits.
fn number(bits: u8, value: u32) -> f64 {
    if bits == 16 { f64::from(widened(value as u16)) } else { f64::from(f32::from_bits(value)) }
}

fn check_smooth(at: &str, access: &Access, values: [u32; 3], random: &mut Random) {
    let bits = access.register.bits;
    let inside =
        [random.below(1000) as f64 + 1.0, random.below(1000) as f64 + 1.0, random.below(1000) as f64 + 1.0];
    let sum: f64 = inside.iter().sum();
    let weights = inside.map(|w| w / sum);
    let got = match bits {
        16 => TRIANGLE.smooth_f16(weights, values.map(|v| v as u16)).into(),
        _ => TRIANGLE.smooth_f32(weights, values),
    };
    let per_vertex: Vec<f64> = (0..3).map(|i| weights[i] * f64::from(TRIANGLE.inverse_w[i])).collect();
    let exact =
        (0..3).map(|i| per_vertex[i] * number(bits, values[i])).sum::<f64>() / per_vertex.iter().sum::<f64>();
    let largest = values.iter().map(|v| number(bits, *v).abs()).fold(0.0, f64::max);
    let tolerance = if bits == 16 { TOLERANCE_F16 } else { TOLERANCE_F32 };
    let distance = (number(bits, got) - exact).abs();
    assert!(distance <= tolerance * largest, "{at}: {distance} of {largest}");
    for (i, value) in values.into_iter().enumerate() {
        let mut corner = [0.0; 3];
        corner[i] = 1.0;
        let got = if bits == 16 {
            TRIANGLE.smooth_f16(corner, values.map(|v| v as u16)).into()
        } else {
            TRIANGLE.smooth_f32(corner, values)
        };
        assert_eq!(got, value, "{at}: a corner is exact");
    }
}

/// How many of each kind of set there were: a kind that never came up would prove nothing.
#[derive(Default, Debug)]
struct Seen {
    linked: u32,
    separate: u32,
    overflowing: u32,
    mismatched: u32,
    missing: u32,
    smooth: u32,
    converted: u32,
}

fn check(request: &Request, random: &mut Random, seen: &mut Seen) {
    let layout = link(request).unwrap();
    let mut machine = Machine::new(request, &layout);
    for (index, varying) in request.varyings.iter().enumerate().filter(|(_, v)| v.stage == Stage::Vertex) {
        let read = |v: &&Varying| v.stage == Stage::Fragment && v.location == varying.location && !v.flat;
        // A conversion of sizes keeps that a value is no number, but not its bits: such outputs are numbers here.
        let slot = layout.slot(varying.location).unwrap();
        let resized = slot.element.bits != varying.element.bits;
        let smooth = resized || request.varyings.iter().any(|v| read(&v));
        let smooth = smooth && varying.element.base == Base::Float;
        for vertex in 0..VERTICES {
            for c in 0..4 {
                machine.outputs[index][vertex][c] = value(random, varying.element, smooth);
            }
            machine.store(index, &layout.accesses[index], vertex);
        }
    }
    match layout.fallback {
        Some(_) if !request.separate => seen.overflowing += 1,
        _ if request.separate => seen.separate += 1,
        _ => seen.linked += 1,
    }
    for (index, input) in request.varyings.iter().enumerate().filter(|(_, v)| v.stage == Stage::Fragment) {
        check_input(&machine, index, input, random, seen);
    }
}

fn check_input(machine: &Machine<'_>, index: usize, input: &Varying, random: &mut Random, seen: &mut Seen) {
    let (request, layout) = (machine.request, machine.layout);
    let access = &layout.accesses[index];
    let at = format!("v{} {input:?} by {access:?} in {request:?}", machine.version());
    let Some((source, output)) = matching(request, input) else {
        seen.missing += 1;
        assert_eq!(machine.load(index, access, 0), [0; 4], "{at}");
        return;
    };
    seen.mismatched += u32::from(output.element != input.element);
    seen.converted += u32::from(access.converts.is_some());
    for c in 0..usize::from(input.components) {
        let wants: [u32; 3] =
            std::array::from_fn(|v| expected(layout, output, input, machine.outputs[source][v][c], access));
        let got: [u32; 3] = std::array::from_fn(|v| {
            let bits = machine.load(index, access, v)[c];
            access.converts.map_or(bits, |own| resized(input.element.base, bits, access.memory.bits, own))
        });
        // A conversion of sizes keeps that a number is none, not its payload.
        let size = access.converts.unwrap_or(access.memory.bits);
        let resized = output.element.bits != access.memory.bits || access.converts.is_some();
        let none = |v: u32| resized && number(size, v).is_nan();
        let same = got.iter().zip(wants).all(|(g, w)| *g == w || (none(*g) && none(w)));
        assert!(same, "component {c} is {got:x?}, not {wants:x?}, of {at}");
        if !input.flat && output.element.base == Base::Float {
            seen.smooth += 1;
            let raw: [u32; 3] = std::array::from_fn(|v| machine.load(index, access, v)[c]);
            check_smooth(&at, access, raw, random);
        }
    }
}

#[test]
fn ten_thousand_sets_read_back_what_was_stored() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut seen = Seen::default();
    for _ in 0..10_000 {
        let request = request(&mut random);
        check(&request, &mut random, &mut seen);
    }
    let Seen { linked, separate, overflowing, mismatched, missing, smooth, converted } = seen;
    assert!(
        [linked, separate, mismatched, missing, smooth, converted].iter().all(|n| *n > 1000),
        "{linked} {separate} {mismatched} {missing} {smooth} {converted}"
    );
    assert!(overflowing > 100, "{overflowing}");
}

/// Every instruction that the linker names exists in its version, and says what the access says.
#[test]
fn the_named_instructions_assemble() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..2_000 {
        let request = request(&mut random);
        let layout = link(&request).unwrap();
        let version = request.version.number();
        for (access, varying) in layout.accesses.iter().zip(&request.varyings) {
            for text in layout.instructions(access, varying) {
                let table = match request.version.generation() {
                    Generation::Midgard => midgard::table(),
                    Generation::Bifrost => bifrost::add_table(),
                    Generation::Valhall => words::table(),
                };
                let assembled = table.assemble(version, &text);
                assert!(assembled.is_ok(), "v{version}: {text}: {:?}", assembled.err());
            }
        }
    }
}
