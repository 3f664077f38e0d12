//! Progress of long work on standard error, if that is a terminal: simulated time and speed.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use simulator::Machine;

/// A line that is drawn over and over, and gone when this is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Shows `what` is being done.
    #[must_use]
    pub fn new(what: &str) -> Self {
        let bar = ProgressBar::new_spinner().with_prefix(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, started: Instant::now() }
    }

    /// Shows that `what` is being done, and for how long.
    #[must_use]
    pub fn waiting(what: &str) -> Self {
        let progress = Self::new(what);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {elapsed}") {
            progress.bar.set_style(style);
        }
        progress
    }

    /// Shows how far the machine is.
    pub fn update(&self, machine: &Machine) {
        let mips = Speed::of(machine, 0, self.started).mips();
        self.bar
            .set_message(format!("{:.6} s simulated, {mips:.1} MIPS", machine.simulated_seconds()));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How fast a machine ran.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    instructions: u64,
    host: Duration,
}

impl Speed {
    /// Of a machine that had completed `before` instructions at `started`, until now.
    #[must_use]
    pub fn of(machine: &Machine, before: u64, started: Instant) -> Self {
        Self { instructions: machine.instructions() - before, host: started.elapsed() }
    }

    /// Millions of simulated instructions per second of host time.
    #[must_use]
    pub fn mips(self) -> f64 {
        self.instructions as f64 / 1e6 / self.host.as_secs_f64().max(1e-9)
    }
}
