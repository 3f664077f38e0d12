//! Features that a partition has if its description asks for them, each by a version, and how its device tree
//! tells of them.
//!
//! A feature belongs to the partition and not to the machine of the day: what a version promises holds wherever
//! the partition runs, or it does not start there. `docs/guest-stop.md` says what a guest may rely on.

/// The node with a node for each feature that the partition has.
pub const NODE: &str = "powervisor,features";
/// Of each feature, its version.
pub const VERSION: &str = "version";

/// The feature `guest-stop`: the guest may execute `stop`, and the processor waits in it without an exit.
pub mod guest_stop {
    /// Its node, and its name in files.
    pub const NAME: &str = "guest-stop";
    /// The only version.
    pub const VERSION: u32 = 1;
    /// Names of the states, as firmware's `ibm,cpu-idle-state-names`.
    pub const NAMES: &str = "state-names";
    /// What to write to PSSCR for each, and which bits of it.
    pub const PSSCR: &str = "state-psscr";
    /// The bits that count of that.
    pub const PSSCR_MASK: &str = "state-psscr-mask";
    /// Nanoseconds that each takes to leave.
    pub const LATENCIES: &str = "state-latencies-ns";
    /// Nanoseconds of sleep from which on each is worth it.
    pub const RESIDENCIES: &str = "state-residency-ns";
}
