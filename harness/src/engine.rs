//! What runs dispatches, by the options that name it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::ValueEnum;
use guestwave_backend_wgpu::{DeviceClock, Options as WgpuOptions, WgpuBackend};
use guestwave_cp::Executor;
use guestwave_cp::intel::sol::{PlainStreamOut, StreamOut};
use guestwave_translate::backend::{Backend, Fidelity, Holding};
use guestwave_translate::executor::{Options, Stats, TranslatingExecutor};
use guestwave_translate::plain::PlainBackend;
use guestwave_translate::sol::ProgramStreamOut;

use crate::executor::{Fallback, ReferenceExecutor};
use crate::shared_backend::SharedBackend;

/// What runs the guest's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExecutorChoice {
    /// Translated programs on a backend
    Translate,
    /// The reference interpreter
    Reference,
}

/// What translated programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendChoice {
    /// Native code of this host, no driver
    Soft,
    /// Whatever GPU or software GPU the host has
    Wgpu,
    /// The plain evaluator of translated programs: slow, for finding faults
    Plain,
}

/// How the host holds a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HoldingChoice {
    /// The fastest that is proved exact
    Auto,
    /// The whole wave in one invocation
    Wave,
    /// One lane an invocation
    Lane,
    /// Two lanes an invocation
    Pair,
}

/// How close to the guest's bits floats are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FidelityChoice {
    /// The same bits everywhere
    Exact,
    /// Whatever the host does fastest
    Fast,
}

/// Options that choose what runs dispatches.
#[derive(Clone, Debug, clap::Args)]
pub struct EngineArgs {
    /// What runs the guest's programs; unless it is named, they are translated, and the reference interpreter runs those that
    /// cannot be
    #[arg(long, value_enum)]
    pub executor: Option<ExecutorChoice>,
    /// What the translating executor runs on; native code of this host unless another is named
    #[arg(long, value_enum)]
    pub backend: Option<BackendChoice>,
    /// How the translating executor holds a wave
    #[arg(long, value_enum, default_value_t = HoldingChoice::Auto)]
    pub holding: HoldingChoice,
    /// The same bits everywhere, or the host's own arithmetic
    #[arg(long, value_enum, default_value_t = FidelityChoice::Exact)]
    pub fidelity: FidelityChoice,
    /// Part of the wgpu adapter's name
    #[arg(long)]
    pub adapter: Option<String>,
    /// Instructions (or, translated, loop iterations of a wave) that one dispatch may execute
    #[arg(long, value_name = "N", default_value_t = crate::executor::DEFAULT_STEPS)]
    pub steps: u64,
    /// What the time of a wgpu device is added to, if that is wanted
    #[arg(skip)]
    pub clock: Option<DeviceClock>,
}

/// An executor, and where the translating one counts its modules.
pub struct Engine {
    /// Runs dispatches.
    pub executor: Box<dyn Executor>,
    /// Modules and launches, of the translating executor.
    pub stats: Option<Arc<Mutex<Stats>>>,
}

impl EngineArgs {
    /// The executor that the options name.
    ///
    /// # Errors
    /// A sentence about what this build or this host does not have.
    pub fn engine(&self) -> anyhow::Result<Engine> {
        self.check()?;
        if self.is_reference() {
            return Ok(Engine { executor: Box::new(ReferenceExecutor::with_steps(self.steps)), stats: None });
        }
        let Engine { executor, stats } = self.engine_on(self.backend()?);
        if self.executor.is_some() || self.backend.is_some() {
            return Ok(Engine { executor, stats });
        }
        let reference = Box::new(ReferenceExecutor::with_steps(self.steps));
        Ok(Engine { executor: Box::new(Fallback::new(executor, reference)), stats })
    }

    /// The same options, without the reference interpreter for what cannot be translated.
    #[must_use]
    pub fn strict(&self) -> Self {
        EngineArgs { executor: self.executor.or(Some(ExecutorChoice::Translate)), ..self.clone() }
    }

    /// The translating executor on a backend that is open.
    pub fn engine_on(&self, backend: Box<dyn Backend>) -> Engine {
        let options = Options { fidelity: self.fidelity(), holding: self.holding(), budget: self.steps };
        let executor = TranslatingExecutor::new(backend, options);
        let stats = Some(executor.stats());
        Engine { executor: Box::new(executor), stats }
    }

    /// The backend that the options name, open, if it is one that takes its time to open and serves many engines.
    ///
    /// # Errors
    /// As [`EngineArgs::engine`].
    pub fn device(&self) -> anyhow::Result<Option<SharedBackend>> {
        self.check()?;
        let wanted = !self.is_reference() && self.backend == Some(BackendChoice::Wgpu);
        wanted.then(|| self.backend().map(SharedBackend::new)).transpose()
    }

    /// What carries out Intel's stream-output copies: plainly for the reference, else as programs of the backend.
    ///
    /// # Errors
    /// As [`EngineArgs::engine`].
    pub fn stream_out(&self) -> anyhow::Result<Box<dyn StreamOut>> {
        self.check()?;
        if self.fidelity == FidelityChoice::Fast {
            anyhow::bail!("--fidelity fast means nothing here: stream output copies bits");
        }
        if self.is_reference() {
            return Ok(Box::new(PlainStreamOut));
        }
        Ok(Box::new(ProgramStreamOut::new(self.backend()?, self.holding())))
    }

    /// Refuses options that what is chosen would not heed.
    fn check(&self) -> anyhow::Result<()> {
        let (reference, device) = (self.is_reference(), self.backend == Some(BackendChoice::Wgpu));
        let lanes = matches!(self.holding, HoldingChoice::Lane | HoldingChoice::Pair);
        let unheeded = [
            ("--backend", reference && self.backend.is_some(), "--executor translate"),
            ("--holding", reference && self.holding != HoldingChoice::Auto, "--executor translate"),
            ("--fidelity fast", reference && self.fidelity == FidelityChoice::Fast, "--executor translate"),
            ("--holding lane or pair", lanes && !device, "--backend wgpu"),
            ("--adapter", self.adapter.is_some() && !device, "--backend wgpu"),
        ];
        match unheeded.iter().find(|(_, given, _)| *given) {
            Some((option, _, needs)) => anyhow::bail!("{option} is for {needs}"),
            None => Ok(()),
        }
    }

    fn backend(&self) -> anyhow::Result<Box<dyn Backend>> {
        match self.backend {
            Some(BackendChoice::Plain) => Ok(Box::new(PlainBackend::new())),
            Some(BackendChoice::Wgpu) => Ok(Box::new(WgpuBackend::open(&self.wgpu())?)),
            Some(BackendChoice::Soft) | None => {
                Ok(Box::new(guestwave_backend_soft::SoftBackend::new(Default::default())?))
            }
        }
    }

    /// How the options want a wgpu device opened.
    pub fn wgpu(&self) -> WgpuOptions {
        WgpuOptions {
            adapter: self.adapter.clone(),
            fidelity: self.fidelity(),
            cache: cache_folder(),
            clock: self.clock.clone(),
            ..WgpuOptions::default()
        }
    }

    /// Whether the reference interpreter runs dispatches.
    pub fn is_reference(&self) -> bool {
        self.executor == Some(ExecutorChoice::Reference)
    }

    /// The same options with the reference interpreter.
    #[must_use]
    pub fn reference(&self) -> Self {
        EngineArgs {
            executor: Some(ExecutorChoice::Reference),
            backend: None,
            holding: HoldingChoice::Auto,
            fidelity: FidelityChoice::Exact,
            adapter: None,
            steps: self.steps,
            clock: None,
        }
    }

    /// What runs dispatches, by name.
    pub fn backend_name(&self) -> &'static str {
        match (self.executor, self.backend) {
            (Some(ExecutorChoice::Reference), _) => "reference",
            (_, Some(BackendChoice::Wgpu)) => "wgpu",
            (_, Some(BackendChoice::Plain)) => "plain",
            (_, Some(BackendChoice::Soft) | None) => "soft",
        }
    }

    /// By how much of itself a sum of terms of one sign may be off after so many roundings of the host, and as many at most of
    /// the guest, by half a unit in the last place each; with the guest's arithmetic not at all.
    pub fn tolerance(&self, roundings: u32) -> f32 {
        match self.fidelity {
            FidelityChoice::Exact => 0.0,
            FidelityChoice::Fast => roundings as f32 * f32::EPSILON,
        }
    }

    /// `exact` or `fast`.
    pub fn fidelity_name(&self) -> &'static str {
        match self.fidelity {
            FidelityChoice::Exact => "exact",
            FidelityChoice::Fast => "fast",
        }
    }

    fn fidelity(&self) -> Fidelity {
        match self.fidelity {
            FidelityChoice::Exact => Fidelity::Exact,
            FidelityChoice::Fast => Fidelity::Fast,
        }
    }

    fn holding(&self) -> Option<Holding> {
        match self.holding {
            HoldingChoice::Auto => None,
            HoldingChoice::Wave => Some(Holding::Wave),
            HoldingChoice::Lane => Some(Holding::Lane),
            HoldingChoice::Pair => Some(Holding::Pair),
        }
    }
}

/// Where compiled pipelines are kept from one process to the next: the user's cache folder, by the conventions of the host.
fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let user = set("XDG_CACHE_HOME")
        .filter(|p| p.is_absolute())
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(user.join("guestwave"))
}
