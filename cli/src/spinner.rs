//! Progress of long work on standard error, if that is a terminal: simulated time and speed.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lab::progress::{Progress, Task};
use simulator::Machine;

/// Work is shown by a line that is drawn over and over, and gone at its end.
#[derive(Clone, Copy, Debug)]
pub struct Spinner;

/// Such a line.
#[derive(Debug)]
struct Line {
    bar: ProgressBar,
    started: Instant,
    /// Whether it shows how far the machine is, and not only for how long the work takes.
    has_machine: Cell<bool>,
}

impl Progress for Spinner {
    fn begin(&self, what: &str) -> Box<dyn Task> {
        let bar = ProgressBar::new_spinner().with_prefix(what.to_owned());
        set_style(&bar, "{spinner} {prefix}: {elapsed}");
        bar.enable_steady_tick(Duration::from_millis(100));
        Box::new(Line { bar, started: Instant::now(), has_machine: Cell::new(false) })
    }
}

impl Task for Line {
    fn reached(&self, machine: &Machine) {
        if !self.has_machine.replace(true) {
            set_style(&self.bar, "{spinner} {prefix}: {msg}");
        }
        let mips = Speed::of(machine, 0, self.started).mips();
        self.bar
            .set_message(format!("{:.6} s simulated, {mips:.1} MIPS", machine.simulated_seconds()));
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

impl Drop for Line {
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
