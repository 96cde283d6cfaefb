//! What the command processor tells while a submission is carried out, kept packet by packet.

use std::ops::Range;

use guestwave_cp::amd::{Header, RegisterFile};
use guestwave_cp::{
    Completed, DispatchId, DrawFacts, ExactDispatch, LaunchEvent, Observer, Origin, PacketEvent, Refused,
    SampleEvent, WaitEvent,
};

/// One packet that was carried out, and what came of it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) at: Origin,
    pub(super) header: Header,
    pub(super) body: Vec<u32>,
    pub(super) depth: u32,
    pub(super) notes: Vec<Note>,
}

/// Something that a packet did.
#[derive(Debug)]
pub(super) enum Note {
    /// It launched a program.
    Launch(Box<Launched>),
    /// It wrote streamout counters.
    Sample(SampleEvent),
    /// It judged a wait.
    Wait(WaitEvent),
    /// It wrote memory.
    Stored(Range<u64>),
    /// It was refused, or part of it.
    Refused { code: &'static str, text: String },
}

/// A launched program.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) id: DispatchId,
    pub(super) dispatch: ExactDispatch,
    pub(super) draw: Option<DrawFacts>,
    pub(super) registers: RegisterFile,
    /// What it did, once it has run.
    pub(super) completed: Option<Completed>,
}

/// Keeps the packets of one submission.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) steps: Vec<Step>,
}

impl Recorder {
    /// The packet at `at`, or else the last one: what is told late (a fault) belongs to an earlier packet.
    fn note(&mut self, at: Origin, note: Note) {
        let place = self.steps.iter().rposition(|s| s.at == at).or(self.steps.len().checked_sub(1));
        if let Some(step) = place.and_then(|p| self.steps.get_mut(p)) {
            step.notes.push(note);
        }
    }
}

impl Observer for Recorder {
    fn packet(&mut self, event: &PacketEvent<'_>) {
        let PacketEvent { at, header, body, depth } = *event;
        self.steps.push(Step { at, header, body: body.to_vec(), depth, notes: Vec::new() });
    }

    fn launched(&mut self, event: &LaunchEvent<'_>) {
        let launched = Launched {
            id: event.id,
            dispatch: event.dispatch.clone(),
            draw: event.draw.copied(),
            registers: event.registers.clone(),
            completed: None,
        };
        self.note(event.dispatch.origin, Note::Launch(Box::new(launched)));
    }

    fn completed(&mut self, completed: &Completed) {
        let notes = self.steps.iter_mut().rev().flat_map(|s| s.notes.iter_mut());
        let launches = notes.filter_map(|n| if let Note::Launch(l) = n { Some(l) } else { None });
        if let Some(launch) = launches.into_iter().find(|l| l.id == completed.id) {
            launch.completed = Some(completed.clone());
        }
    }

    fn stored(&mut self, at: Origin, range: Range<u64>) {
        self.note(at, Note::Stored(range));
    }

    fn waited(&mut self, event: &WaitEvent) {
        self.note(event.at, Note::Wait(*event));
    }

    fn sampled(&mut self, event: &SampleEvent) {
        self.note(event.at, Note::Sample(*event));
    }

    fn refused(&mut self, refused: &Refused) {
        let (code, text) = (refused.refusal.code(), refused.refusal.to_string());
        self.note(refused.at, Note::Refused { code, text });
    }
}
