//! A program that asks the virtual GPU for anything: random calls on its node, random command buffers, and random bytes on the
//! executor's socket, from several threads. Arguments: a seed, and for how many seconds.
//!
//! It ends by itself whatever its calls wait for, and says how many it made and how much memory the executor has taken.
#![expect(unsafe_code, reason = "calls of the kernel's interface take pointers")]

#[allow(dead_code, reason = "the preloaded library compiles the same file and uses the rest of it")]
#[path = "../virtual-gpu/src/wire.rs"]
mod wire;

use std::error::Error;
use std::ffi::{c_int, c_ulong, c_void};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wire::Way;

unsafe extern "C" {
    fn ioctl(descriptor: c_int, request: c_ulong, argument: *mut c_void) -> c_int;
    fn mmap(
        at: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    fn _exit(status: c_int) -> !;
}

const NODE: &str = "/dev/dri/renderD128";

/// How often another thread begins: many calls wait for what never comes, and take their thread with them.
const BETWEEN_THREADS: Duration = Duration::from_millis(100);

static CALLS: AtomicU64 = AtomicU64::new(0);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        || arguments.next().ok_or("two numbers are needed")?.parse::<u64>().map_err(Box::<dyn Error>::from);
    let (seed, seconds) = (number()?, number()?);
    for thread in 0..10 * seconds {
        let mut random = Random((seed << 32 | thread).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        std::thread::spawn(move || {
            loop {
                // A file that is lost is opened again.
                let _ = attack(&mut random);
            }
        });
        std::thread::sleep(BETWEEN_THREADS);
    }
    println!("{} calls; the executor has taken {} MiB", CALLS.load(Ordering::Relaxed), executor_mebibytes()?);
    // SAFETY: a plain call; the threads are where they are, which is the point.
    unsafe { _exit(0) }
}

/// The fields of the variable that tells of the virtual GPU.
fn setting(which: usize) -> Result<String, Box<dyn Error>> {
    let all = std::env::var(wire::VARIABLE)?;
    Ok(all.split(',').nth(which).ok_or("no virtual GPU")?.to_owned())
}

/// Memory of the executor's own, without that of buffer objects.
fn executor_mebibytes() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", setting(1)?))?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:")).ok_or("no figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A value of the kinds that mean something somewhere.
    fn word(&mut self) -> u64 {
        match self.below(8) {
            0..3 => self.next() % 4,
            3 => self.next() % 64,
            4 => 1 << self.below(64),
            5 => PLACE + 4 * (self.next() % 4096),
            6 => u64::MAX,
            _ => self.next(),
        }
    }
}

/// Where the command buffer is mapped.
const PLACE: u64 = 0x10_0000_0000;

/// Its bytes.
const BYTES: usize = 1 << 20;

/// An open file with a command buffer and a context.
struct Target {
    node: File,
    commands: *mut u32,
    context: u32,
}

impl Target {
    fn new() -> Result<Target, Box<dyn Error>> {
        let node = OpenOptions::new().read(true).write(true).open(NODE)?;
        let mut target = Target { node, commands: std::ptr::null_mut(), context: 0 };
        let buffer = target.ask(0x40, &mut [BYTES as u64, 4096, 2, 0])?[0];
        target.ask(0x48, &mut [buffer, 1 | 6 << 32, PLACE, 0, BYTES as u64])?;
        let offset = target.ask(0x41, &mut [buffer, 0])?[0];
        target.context = target.ask(0x42, &mut [1, 0])?[0] as u32;
        // SAFETY: a new mapping of the buffer object.
        let at = unsafe { mmap(std::ptr::null_mut(), BYTES, 3, 1, target.node.as_raw_fd(), offset as i64) };
        if at as isize == -1 {
            return Err("the command buffer cannot be mapped".into());
        }
        target.commands = at.cast();
        Ok(target)
    }

    /// A call whose pointers are right.
    fn ask<'a>(&self, number: u8, structure: &'a mut [u64]) -> Result<&'a [u64], Box<dyn Error>> {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let code =
            c_ulong::from(3u32 << 30 | (structure.len() as u32 * 8) << 16 | 0x6400 | u32::from(number));
        // SAFETY: the callers see to it that pointers lead to as many bytes as they say.
        match unsafe { ioctl(self.node.as_raw_fd(), code, structure.as_mut_ptr().cast()) } {
            0.. => Ok(structure),
            _ => Err(std::io::Error::last_os_error().into()),
        }
    }
}

impl Target {
    /// Writes words into the command buffer.
    fn write(&self, at: usize, words: &[u32]) {
        assert!(at + words.len() <= BYTES / 4, "the command buffer is full");
        for (i, word) in words.iter().enumerate() {
            // SAFETY: inside the mapping, which nobody else in this process has.
            unsafe { self.commands.add(at + i).write(*word) };
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.commands.is_null() {
            // SAFETY: mapped in `new`, and used by this alone.
            unsafe { munmap(self.commands.cast(), BYTES) };
        }
    }
}

/// Opens the node and makes random calls until the file is closed.
fn attack(random: &mut Random) -> Result<(), Box<dyn Error>> {
    let target = Target::new()?;
    for _ in 0..2000 {
        match random.below(20) {
            0..12 => call(random, &target),
            12..18 => submit(random, &target),
            18 => map(random, &target),
            _ => talk(random)?,
        }
    }
    Ok(())
}

/// Numbers of calls that mean something: those of buffers and submissions, and those of synchronization objects.
const NUMBERS: [std::ops::RangeInclusive<u8>; 4] = [0x00..=0x0d, 0x2d..=0x2e, 0x40..=0x55, 0xbf..=0xcd];

/// Any call. Its pointers are null or lead to memory, because what they lead to is read in this process.
fn call(random: &mut Random, target: &Target) {
    let mut memory = [0u64; 1024];
    memory.iter_mut().for_each(|word| *word = random.word());
    let range = NUMBERS[random.below(NUMBERS.len())].clone();
    let number = match random.below(10) {
        0 => random.next() as u8,
        _ => range.start() + random.below(range.len()) as u8,
    };
    // What closes the file's own buffer and context is left out now and then, so that submissions have some.
    let number = if matches!(number, 0x09 | 0x48) && random.below(8) > 0 { 0x45 } else { number };
    let mut structure: Vec<u64> = (0..1 + random.below(12)).map(|_| random.word()).collect();
    aim(random, number, &mut structure, &mut memory);
    let done = target.ask(number, &mut structure).is_ok();
    let descriptor = wire::descriptor(u32::from(number), Way::Out).filter(|_| done);
    if descriptor.is_some()
        && let Some(word) = structure.get(1)
    {
        // SAFETY: the call has just made this descriptor.
        drop(unsafe { OwnedFd::from_raw_fd(*word as c_int) });
    }
}

/// Makes the pointers of a call right.
fn aim(random: &mut Random, number: u8, structure: &mut [u64], memory: &mut [u64]) {
    let code = (structure.len() as u32 * 8) << 16 | 0x6400 | u32::from(number);
    let mut bytes: Vec<u8> = structure.iter().flat_map(|w| w.to_le_bytes()).collect();
    // Whether a row counts may depend on a field that is set here: those of all rows are set.
    for row in wire::POINTERS.iter().filter(|row| row.number == number) {
        let counts = match row.count {
            wire::Count::Fixed(_) => [None, None],
            wire::Count::Field(at) => [Some(at), None],
            wire::Count::Product(a, b) => [Some(a), Some(b)],
        };
        for at in counts.into_iter().flatten() {
            put(&mut bytes, at, &(random.next() as u32 % 24).to_le_bytes());
        }
        let to = if random.below(8) == 0 { 0 } else { memory.as_mut_ptr() as u64 };
        put(&mut bytes, row.at, &to.to_le_bytes());
    }
    structure
        .iter_mut()
        .zip(bytes.as_chunks().0)
        .for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    let chunks = wire::pointers(code, &bytes).any(|p| p.way == Way::Chunks);
    if chunks {
        chunk_list(random, memory);
    }
}

/// Sets bytes, where there are so many.
fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

/// Pointers to chunks, chunks, and what they lead to, in the same memory.
fn chunk_list(random: &mut Random, memory: &mut [u64]) {
    let base = memory.as_ptr() as u64;
    let address = |word: usize| base + 8 * word as u64;
    for i in 0..24 {
        memory[i] = address(100 + 2 * i);
        let (id, words) = (random.next() % 11, random.next() % 40);
        memory[100 + 2 * i] = id | words << 32;
        memory[101 + 2 * i] = address(200 + 3 * random.below(90));
    }
    // Whichever is taken for the head of a list of buffer objects has room for what it says behind its pointer.
    for head in memory[200..500].as_chunks_mut::<3>().0 {
        *head = [random.word(), 4 | 8 << 32, address(500)];
    }
}

/// Fills the command buffer with packets and submits a part of it.
fn submit(random: &mut Random, target: &Target) {
    let mut commands = Vec::new();
    while commands.len() < PROGRAM / 8 && random.below(64) > 0 {
        commands.extend(packet(random));
    }
    if random.below(2) == 0 {
        commands = dispatch(random);
        let program: Vec<_> =
            (0..random.below(40)).map(|_| instruction(random)).chain([END_OF_PROGRAM]).collect();
        target.write(PROGRAM / 4, &program);
    }
    target.write(0, &commands);
    let at = commands.len();
    let ib = [0, u64::from(PLACE as u32) | (PLACE >> 32) << 32];
    let engine = random.next() % 2;
    let data = [ib[0], ib[1], (4 * at as u64) | (engine << 32), 0];
    let chunk = [1 | 8u64 << 32, data.as_ptr() as u64];
    let pointers = [chunk.as_ptr() as u64];
    let _ = target.ask(0x44, &mut [u64::from(target.context), 1, pointers.as_ptr() as u64]);
}

/// Where in the command buffer's bytes programs are.
const PROGRAM: usize = BYTES / 2;

/// `s_endpgm`.
const END_OF_PROGRAM: u32 = 0xbf81_0000;

/// A dispatch of the program, with any number of groups.
fn dispatch(random: &mut Random) -> Vec<u32> {
    let program = (PLACE + PROGRAM as u64) >> 8;
    let size = [2 + random.next() as u32 % 63, 1 + random.next() as u32 % 4, 1];
    // Registers of both kinds, which identifiers are given, and up to sixteen words of user data.
    let resources = [
        0x0ac0_0000 | (random.next() as u32 % 64),
        random.next() as u32 & 0x1f80 | (random.below(17) as u32) << 1,
    ];
    let data: Vec<_> = (0..8).map(|_| random.word() as u32).collect();
    // Where they are in the space of program registers.
    let registers: [(u32, &[u32]); 4] = [
        (0x207, &size),
        (0x20c, &[program as u32, (program >> 32) as u32]),
        (0x212, &resources),
        (0x240, &data),
    ];
    let set = |(at, values): (u32, &[u32])| {
        let header = 3 << 30 | (values.len() as u32) << 16 | 0x7600 | 2;
        [&[header, at], values].concat()
    };
    let mut packets: Vec<_> = registers.into_iter().flat_map(set).collect();
    // A few, or more than are taken: what is taken has to run, and this program has no time to see a billion of threads through.
    let mut count = || {
        if random.below(12) == 0 {
            u32::MAX - random.next() as u32 % 64
        } else {
            1 + random.next() as u32 % 3
        }
    };
    let groups = [count(), count(), count()];
    packets.extend([
        3 << 30 | 3 << 16 | 0x1502,
        groups[0],
        groups[1],
        groups[2],
        1 | random.next() as u32 & 0x8000,
    ]);
    packets
}

/// Any instruction, more often one of those with one word.
fn instruction(random: &mut Random) -> u32 {
    let any = random.next() as u32;
    match random.below(8) {
        // Vector operations with two sources, and with one.
        0..3 => any & 0x3fff_ffff | 0x0100,
        3 => 0x7e00_0000 | any & 0x01ff_ffff,
        // Scalar operations of the three short kinds.
        4 => 0x8000_0000 | any & 0x3fff_ffff,
        5 => 0xbe80_0000 | any & 0x007f_ffff,
        // Branches and waits.
        6 => 0xbf80_0000 | (any & 0xf) << 16 | any >> 16 & 0xff,
        _ => any,
    }
}

/// Opcodes that do something.
const OPCODES: [u8; 24] = [
    0x10, 0x12, 0x15, 0x16, 0x20, 0x22, 0x2d, 0x2f, 0x34, 0x37, 0x3c, 0x3f, 0x40, 0x42, 0x46, 0x49, 0x50,
    0x58, 0x5e, 0x68, 0x69, 0x76, 0x79, 0x9f,
];

/// A packet of a plausible length with anything in it.
fn packet(random: &mut Random) -> Vec<u32> {
    let words = 1 + random.below(12);
    let opcode = if random.below(16) == 0 { random.next() as u8 } else { random.of(&OPCODES) };
    let header = 3 << 30 | (words as u32 - 1) << 16 | u32::from(opcode) << 8 | (random.next() as u32 & 2);
    let mut packet = vec![header];
    packet.extend((0..words).map(|_| random.word() as u32));
    if random.below(4) == 0 {
        // An address, where most packets have one.
        packet[words.min(3)] = PLACE as u32 + 4 * (random.next() as u32 % 1024);
        packet.extend(packet.get(words.min(4)).map(|_| (PLACE >> 32) as u32));
    }
    packet
}

/// Maps any part of the node.
fn map(random: &mut Random, target: &Target) {
    let bytes = 4096 << random.below(8);
    let offset = random.word() as i64 & !4095;
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: a new mapping at an address that the kernel chooses, which nothing reads.
    unsafe {
        let at = mmap(std::ptr::null_mut(), bytes, 3, 1, target.node.as_raw_fd(), offset);
        if at as isize != -1 {
            munmap(at, bytes);
        }
    }
}

/// Says anything on a connection of its own, and goes away.
fn talk(random: &mut Random) -> Result<(), Box<dyn Error>> {
    let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(setting(0)?)?)?;
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    let body: Vec<u8> = (0..random.below(40)).flat_map(|_| random.word().to_le_bytes()).collect();
    let bytes = if random.below(2) == 0 { body.len() as u64 } else { random.word() };
    let code = 3 << 30 | (random.next() % 96) << 16 | 0x6400 | u64::from(random.next() as u8);
    let code = if random.below(8) == 0 { u64::from(wire::OPEN) } else { code };
    let head = [
        bytes & 0xffff_ffff | code << 32,
        (u64::from(std::process::id()) << 32) | (random.next() % 4),
        random.word(),
    ];
    let head: Vec<u8> = head.iter().flat_map(|w| w.to_le_bytes()).collect();
    stream.write_all(&head[..head.len() - random.below(2) * random.below(24)])?;
    stream.write_all(&body)?;
    let _ = stream.read(&mut [0; 64]);
    Ok(())
}
