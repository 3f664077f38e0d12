//! What gdb asks about the machine, and what it lets it do. gdb's threads are the hardware threads, from 1.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use arch::registers::spr::Spr;
use gdbstub::common::{Signal, Tid};
use gdbstub::conn::ConnectionExt as _;
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps,
    SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use lab::history::{History, Watch};
use lab::on_simulator::exit_of;
use lab::system::Exit;
use lab::vcpus::Vcpu;
use simulator::state::thread::{Activity, Thread};
use simulator::{Place, RunState, Whose};

use super::Surroundings;
use super::line::Line;
use super::registers::{Power64, Values, description};
use super::{monitor, vcpus};
use crate::failure::Failure;
use crate::output::say;
use crate::signals::INTERRUPTION;
use crate::visible::visible;

/// Steps between two looks for what gdb, or somebody at the keyboard, wants.
const SLICE: u64 = 1 << 16;
/// The same while a thread is waited for to make a step.
const STEPS: u64 = 1 << 12;
/// What gdb gets for whatever it may not do.
const EPERM: u8 = 1;

/// What is to happen until gdb is told of a stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Continue,
    /// Until this thread has made a step.
    Step(usize),
    StepBack(usize),
    ContinueBack,
}

/// The machine as gdb sees it.
pub(super) struct Debugger<'a> {
    pub(super) history: History<'a>,
    is_little_endian: bool,
    surroundings: &'a mut (dyn Surroundings + 'a),
    action: Action,
    breaks: BTreeSet<u64>,
    watches: Vec<Watch>,
    /// How the machine ended, until it is taken back from there.
    pub(super) over: Option<Exit>,
}

impl fmt::Debug for Debugger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debugger").field("action", &self.action).finish_non_exhaustive()
    }
}

type Stop = MultiThreadStopReason<u64>;

fn tid(thread: usize) -> Tid {
    Tid::new(thread + 1).expect("it is one more than a number")
}

fn thread(tid: Tid) -> usize {
    tid.get() - 1
}

impl<'a> Debugger<'a> {
    pub(super) fn new(
        history: History<'a>,
        is_little_endian: bool,
        surroundings: &'a mut (dyn Surroundings + 'a),
    ) -> Self {
        let (action, breaks, watches) = (Action::Continue, BTreeSet::new(), Vec::new());
        Self { history, is_little_endian, surroundings, action, breaks, watches, over: None }
    }

    fn thread(&self, tid: Tid) -> TargetResult<&Thread, Self> {
        let threads = &self.history.machine().state().threads;
        threads.get(thread(tid)).ok_or(TargetError::Errno(EPERM))
    }

    /// The vCPU for a person.
    fn called(&self, vcpu: &Vcpu) -> String {
        let partition = self.surroundings.partition(vcpu.lpid).unwrap_or("?");
        format!("{partition}, vCPU {}", vcpu.number)
    }

    /// Stops before each break point, whoever comes there, and behind an access to what is watched.
    fn set_places(&mut self) {
        self.history.watch(self.watches.clone());
        let place = |&address: &u64| Place { whose: Whose::Anyone, address, stack: None };
        self.history.stop_before(self.breaks.iter().map(place).collect());
    }

    /// Runs on a little; what gdb has to be told of it.
    fn run(&mut self, steps: u64) -> Result<Option<Stop>, Failure> {
        for bytes in self.surroundings.typed() {
            if !self.history.type_in(&bytes) {
                say("the machine runs again what it ran before, and what was typed now is lost");
            }
        }
        let (end, output) = self.history.run(steps);
        if !output.is_empty() {
            self.surroundings.show(&output)?;
        }
        if let Some(stop) = self.accessed() {
            return Ok(Some(stop));
        }
        if let RunState::AtPlace { thread } = end {
            return Ok(Some(Stop::SwBreak(tid(thread))));
        }
        let Some(exit) = exit_of(end) else { return Ok(None) };
        let is_told = self.over.replace(exit.clone()).is_some();
        let how = match &exit {
            _ if is_told => return Ok(Some(Stop::Exited(u8::from(exit != Exit::PoweredOff)))),
            Exit::Stopped(report) => format!("stopped\n{report}"),
            other => other.to_string(),
        };
        say(format_args!("the machine ended: {how}"));
        say("gdb can look at it and go back; `continue` once more ends the run");
        Ok(Some(Stop::ReplayLog { tid: Some(tid(0)), pos: ReplayLogPosition::End }))
    }

    /// The stop at an access to what is watched, if there was one.
    fn accessed(&mut self) -> Option<Stop> {
        let (thread, watch) = self.history.take_met()?;
        Some(Stop::Watch { tid: tid(thread), kind: kind(&watch), addr: watch.address })
    }

    /// Does some of what gdb asked for.
    fn go_on(&mut self) -> Result<Option<Stop>, Failure> {
        let begin = |tid| Stop::ReplayLog { tid, pos: ReplayLogPosition::Begin };
        let stepped = |thread| Stop::SignalWithThread { tid: tid(thread), signal: Signal::SIGTRAP };
        match self.action {
            Action::Continue => self.run(SLICE),
            Action::Step(thread) => {
                let steps =
                    |debugger: &Self| debugger.history.machine().state().threads[thread].steps();
                let before = steps(self);
                for _ in 0..STEPS {
                    if let Some(stop) = self.run(1)? {
                        return Ok(Some(stop));
                    }
                    if steps(self) != before {
                        return Ok(Some(stepped(thread)));
                    }
                }
                Ok(None)
            }
            Action::StepBack(thread) => {
                self.over = None;
                let has_stepped = self.history.step_back(thread);
                Ok(Some(if has_stepped { stepped(thread) } else { begin(Some(tid(thread))) }))
            }
            Action::ContinueBack => {
                self.over = None;
                let at = self.history.run_back();
                let stop = self.accessed().or(at.map(|thread| Stop::SwBreak(tid(thread))));
                Ok(Some(stop.unwrap_or(begin(Some(tid(0))))))
            }
        }
    }
}

/// Lets the machine run until there is something to tell, and looks at what gdb says meanwhile.
pub(super) struct Events<'a>(PhantomData<&'a ()>);

impl<'a> BlockingEventLoop for Events<'a> {
    type Target = Debugger<'a>;
    type Connection = Line;
    type StopReason = Stop;

    fn wait_for_stop_reason(
        debugger: &mut Debugger<'a>,
        line: &mut Line,
    ) -> Result<Event<Stop>, WaitForStopReasonError<Failure, std::io::Error>> {
        loop {
            let stop = debugger.go_on().map_err(WaitForStopReasonError::Target)?;
            if let Some(stop) = stop {
                return Ok(Event::TargetStopped(stop));
            }
            if INTERRUPTION.check().is_err() {
                return Err(WaitForStopReasonError::Target(Failure::INTERRUPTED));
            }
            if line.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = line.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(_: &mut Debugger<'a>) -> Result<Option<Stop>, Failure> {
        Ok(Some(Stop::SignalWithThread { tid: tid(0), signal: Signal::SIGINT }))
    }
}

impl Target for Debugger<'_> {
    type Arch = Power64;
    type Error = Failure;

    fn base_ops(&mut self) -> BaseOps<'_, Power64, Failure> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MonitorCmd for Debugger<'_> {
    fn handle_monitor_cmd(
        &mut self,
        line: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Failure> {
        let answer = monitor::answer(
            self.history.machine(),
            self.surroundings,
            &String::from_utf8_lossy(line),
        );
        out.write_raw(visible(&answer).as_bytes());
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Debugger<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let xml = description();
        let rest = xml.as_bytes().get(offset as usize..).unwrap_or_default();
        let length = length.min(buffer.len()).min(rest.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

impl MultiThreadBase for Debugger<'_> {
    fn read_registers(&mut self, values: &mut Values, tid: Tid) -> TargetResult<(), Self> {
        *values = Values::of(self.thread(tid)?, self.is_little_endian);
        Ok(())
    }

    fn write_registers(&mut self, _: &Values, _: Tid) -> TargetResult<(), Self> {
        Err(TargetError::Errno(EPERM))
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        match self.history.machine().look_at(thread(tid), start, data) {
            0 if !data.is_empty() => Err(TargetError::NonFatal),
            read => Ok(read),
        }
    }

    fn write_addrs(&mut self, _: u64, _: &[u8], _: Tid) -> TargetResult<(), Self> {
        Err(TargetError::Errno(EPERM))
    }

    fn list_active_threads(&mut self, is_there: &mut dyn FnMut(Tid)) -> Result<(), Failure> {
        (0..self.history.machine().state().threads.len()).for_each(|thread| is_there(tid(thread)));
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Debugger<'_> {
    fn thread_extra_info(&self, tid: Tid, buffer: &mut [u8]) -> Result<usize, Failure> {
        let machine = self.history.machine();
        let vcpu = vcpus::on_thread(machine, self.surroundings.layout(), thread(tid));
        let Some(thread) = machine.state().threads.get(thread(tid)) else { return Ok(0) };
        let lpid = thread.spr(Spr::Lpidr) as u32;
        let owner = match self.surroundings.partition(lpid) {
            _ if thread.is_hypervisor() && self.surroundings.partitions() == 0 => {
                "kernel".to_owned()
            }
            _ if thread.is_hypervisor() => match &vcpu {
                Some(vcpu) => format!("hypervisor, for {}", self.called(vcpu)),
                None => "hypervisor".to_owned(),
            },
            Some(name) => match &vcpu {
                Some(vcpu) => format!("partition {}", self.called(vcpu)),
                None => format!("partition {name}"),
            },
            None => format!("LPID {lpid}"),
        };
        let what = match thread.activity {
            Activity::Running if thread.is_problem() => ", a program",
            Activity::Running => "",
            Activity::InFirmware => ", waits in firmware",
            Activity::Stopped => ", waits in stop",
            Activity::Waiting => ", waits in wait",
        };
        let text = format!("PIR {:#x}, {owner}{what}", thread.spr(Spr::Pir));
        let text = visible(&text);
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text.as_bytes()[..length]);
        Ok(length)
    }
}

impl MultiThreadResume for Debugger<'_> {
    fn resume(&mut self) -> Result<(), Failure> {
        self.set_places();
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Failure> {
        self.action = Action::Continue;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Failure> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Debugger<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Failure> {
        self.action = Action::Step(thread(tid));
        Ok(())
    }
}

/// The other threads cannot be held: the machine would be another one.
impl MultiThreadSchedulerLocking for Debugger<'_> {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl ReverseStep<Tid> for Debugger<'_> {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), Failure> {
        self.set_places();
        self.action = Action::StepBack(thread(tid));
        Ok(())
    }
}

impl ReverseCont<Tid> for Debugger<'_> {
    fn reverse_cont(&mut self) -> Result<(), Failure> {
        self.set_places();
        self.action = Action::ContinueBack;
        Ok(())
    }
}

impl Breakpoints for Debugger<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debugger<'_> {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        self.breaks.insert(address);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.breaks.remove(&address))
    }
}

fn watch(address: u64, bytes: u64, kind: WatchKind) -> Watch {
    let (loads, stores) = (kind != WatchKind::Write, kind != WatchKind::Read);
    Watch { address, bytes, loads, stores }
}

fn kind(watch: &Watch) -> WatchKind {
    match watch {
        Watch { loads: true, stores: true, .. } => WatchKind::ReadWrite,
        Watch { loads: true, .. } => WatchKind::Read,
        Watch { .. } => WatchKind::Write,
    }
}

impl HwWatchpoint for Debugger<'_> {
    fn add_hw_watchpoint(
        &mut self,
        address: u64,
        bytes: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        self.watches.push(watch(address, bytes, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u64,
        bytes: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let wanted = watch(address, bytes, kind);
        let place = self.watches.iter().position(|watch| *watch == wanted);
        Ok(place.map(|place| self.watches.swap_remove(place)).is_some())
    }
}

impl HwBreakpoint for Debugger<'_> {
    fn add_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(address, kind)
    }
}
