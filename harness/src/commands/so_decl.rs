//! `guestwave so-decl`: Intel's stream-output declaration lists.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use guestwave_cp::intel::so_decl::varyings::{Mode, Varying, record};
use guestwave_cp::intel::so_decl::{DeclList, HoleMasks};
use guestwave_cp::intel::sol::{Policies, Room, Unbound};
use guestwave_cp::streamout::Slot;

use super::style;
use crate::engine::EngineArgs;

mod run;

/// Arguments of `so-decl`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make the list that captures OpenGL's varyings
    Encode(Encode),
    /// Print the declarations of a 3DSTATE_SO_DECL_LIST
    Decode(Decode),
    /// Run captured batches or worked examples and show what they store
    Run(Run),
}

#[derive(Debug, clap::Args)]
struct Encode {
    /// Where a varying is: NAME=SLOT.COMPONENT:COMPONENTS, then xELEMENTS for an array and @STREAM for another stream
    #[arg(long = "slot", value_name = "PLACE", value_parser = varying)]
    slots: Vec<Varying>,
    /// Each varying to a buffer of its own
    #[arg(long)]
    separate: bool,
    /// Varyings in the order of capture, gl_SkipComponents1 to 4 and gl_NextBuffer among them
    #[arg(value_name = "VARYING", required = true)]
    varyings: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Decode {
    /// Take holes of any component mask
    #[arg(long)]
    any_holes: bool,
    /// The packet's dwords in hexadecimal, header first
    #[arg(value_name = "DWORD", required = true)]
    dwords: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Run {
    /// Captures or lists of examples, as JSON
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Only the example of this name
    #[arg(long)]
    example: Option<String>,
    /// Let the last record end in a hole past the buffer's end
    #[arg(long)]
    room_by_last_dword: bool,
    /// Leave selected buffers out that are not enabled, instead of storing nothing
    #[arg(long)]
    ignore_unbound: bool,
    /// Write what each buffer that a captured batch streams to ends with to DIR/NAME-ADDRESS.bin
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
}

impl Run {
    fn policies(&self) -> Policies {
        Policies {
            room: if self.room_by_last_dword { Room::LastDword } else { Room::Pitch },
            unbound: if self.ignore_unbound { Unbound::Ignored } else { Unbound::Overflows },
            hole_masks: HoleMasks::Listed,
        }
    }
}

/// Runs the command; the exit status is 1 where an example comes out otherwise, 2 where something was refused.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    match &args.command {
        Command::Encode(args) => encode(args, out),
        Command::Decode(args) => decode(args, out),
        Command::Run(args) => run::run(args, out),
    }
}

/// `NAME=SLOT.COMPONENT:COMPONENTS[xELEMENTS][@STREAM]`.
fn varying(text: &str) -> Result<Varying, String> {
    let bad = || format!("{text:?} is not NAME=SLOT.COMPONENT:COMPONENTS[xELEMENTS][@STREAM]");
    let (name, rest) = text.split_once('=').ok_or_else(bad)?;
    let (rest, stream) = rest.split_once('@').unwrap_or((rest, "0"));
    let (place, size) = rest.split_once(':').ok_or_else(bad)?;
    let (slot, component) = place.split_once('.').ok_or_else(bad)?;
    let (components, elements) = size.split_once('x').map_or((size, None), |(c, e)| (c, Some(e)));
    let number = |text: &str| text.parse::<u8>().map_err(|_| bad());
    let stream = number(stream).ok().filter(|s| *s < 4).ok_or_else(bad)?;
    let component = number(component).ok().filter(|c| *c < 4).ok_or_else(bad)?;
    let components = number(components).ok().filter(|n| *n > 0).ok_or_else(bad)?;
    let elements = elements.map(number).transpose()?;
    if elements == Some(0) {
        return Err(bad());
    }
    Ok(Varying {
        elements,
        stream: Slot::from_bits(u32::from(stream)),
        ..Varying::new(name, number(slot)?, component, components)
    })
}

fn encode(args: &Encode, out: &mut dyn Write) -> Result<u8> {
    let mut places = BTreeSet::new();
    if let Some(twice) = args.slots.iter().find(|slot| !places.insert(&slot.name)) {
        bail!("--slot gives {} a place twice", twice.name);
    }
    let mode = if args.separate { Mode::Separate } else { Mode::Interleaved };
    let names: Vec<_> = args.varyings.iter().map(String::as_str).collect();
    let linked = record(&names, mode, &args.slots).and_then(|record| record.link());
    let linked = linked.map_err(|e| anyhow::anyhow!("{}: {e}", e.code()))?;
    let dwords: Vec<_> = linked.list.encode()?.iter().map(|word| format!("{word:08x}")).collect();
    writeln!(out, "{}", dwords.join(" "))?;
    print(&linked.list, out)?;
    for (buffer, pitch) in linked.pitches.iter().enumerate().filter(|(_, pitch)| **pitch != 0) {
        writeln!(out, "buffer {buffer}: pitch {pitch}")?;
    }
    Ok(0)
}

fn decode(args: &Decode, out: &mut dyn Write) -> Result<u8> {
    let word = |text: &String| {
        u32::from_str_radix(text.trim_start_matches("0x"), 16)
            .with_context(|| format!("{text:?} is no dword"))
    };
    let dwords = args.dwords.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned);
    let dwords: Vec<u32> = dwords.map(|text| word(&text)).collect::<Result<_>>()?;
    let holes = if args.any_holes { HoleMasks::Counted } else { HoleMasks::Listed };
    let list = DeclList::decode(&dwords, holes).and_then(|list| list.check().map(|()| list));
    match list {
        Ok(list) => {
            print(&list, out)?;
            Ok(0)
        }
        Err(error) => {
            writeln!(out, "{} {error}", style::bad(error.code()))?;
            Ok(2)
        }
    }
}

/// The declarations of each stream that has any.
fn print(list: &DeclList, out: &mut dyn Write) -> Result<()> {
    for (stream, decls) in list.streams.iter().enumerate().filter(|(_, decls)| !decls.is_empty()) {
        let buffers: Vec<_> = Slot::ALL
            .into_iter()
            .filter(|b| b.is_in(list.selects[stream]))
            .map(|b| b.index().to_string())
            .collect();
        writeln!(out, "stream {stream} -> buffers {}", buffers.join(", "))?;
        for decl in decls {
            writeln!(out, "  {:04x}  {decl}", decl.encode())?;
        }
    }
    Ok(())
}
