//! The vCPUs in the hypervisor's memory, as a debugger finds them: also those that no hardware thread runs.
//!
//! The hypervisor's image has a table of where they lie, [`arch::vcpus`]. It is believed only while the memory
//! of the machine has the same table, and what it leads to is numbered as partitions are.

use std::ops::Range;

use arch::registers::spr::Spr;
use arch::vcpus::{HEAD, PER_CPU, Places, Register, SYMBOL, VERSION, activity, residence};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use simulator::Machine;

/// The bits of an address of the hypervisor's that are its real address.
const REAL: u64 = !(0xF << 60);
/// More partitions, or vCPUs of one, than there can be: what is read is no list.
const MOST: u64 = 1 << 16;

/// Where an image of the hypervisor has its vCPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    table: u64,
    bytes: Vec<u8>,
    per_cpu: u64,
    places: Places,
    record: Vec<Register>,
    demanded: Vec<Register>,
}

/// What a vCPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// Nothing: it was not started, or not again.
    Stopped,
    /// It waits for a hardware thread.
    Ready,
    /// It runs on this hardware thread of the machine; or the hypervisor works for it there.
    Running(usize),
    /// It sleeps until an interrupt comes, or H_PROD.
    Ceded,
    /// It sleeps until H_PROD comes.
    AwaitsProd,
    /// The hypervisor waits in its place, in a `stop`.
    Paused,
}

/// A vCPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vcpu {
    /// The partition's number to the processor.
    pub lpid: u32,
    /// By which the partition knows it.
    pub number: usize,
    /// What it does.
    pub activity: Activity,
    /// Where its record is, if that is whole; or the hardware thread of the machine that has a part of it.
    record: Result<u64, Option<usize>>,
    demanded: u64,
}

impl Vcpu {
    /// The hardware thread of the machine that has its registers, or a part of them, while it does not run.
    #[must_use]
    pub fn keeper(&self) -> Option<usize> {
        self.record.err().flatten()
    }
}

impl Layout {
    /// That of the hypervisor's image, an ELF file; none if the image has no table of this version.
    #[must_use]
    pub fn of_image(image: &[u8]) -> Option<Self> {
        let file = object::File::parse(image).ok()?;
        let symbol = |name| file.symbols().find(|symbol| symbol.name() == Ok(name));
        let symbol_of_table = symbol(SYMBOL)?;
        let table = symbol_of_table.address();
        let sections = file.sections();
        let bytes = sections
            .filter_map(|section| section.data_range(table, symbol_of_table.size()).ok()?)
            .next()?;
        let words = bytes.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
        let words: Vec<u64> = words.collect::<Result<_, _>>().ok()?;
        let [version, records, demanded]: [u64; HEAD] = *words.first_chunk()?;
        if version != VERSION {
            return None;
        }
        let places = Places::from_words(*words.get(HEAD..)?.first_chunk()?);
        let registers = |range: Range<u64>| {
            let begin = (HEAD + Places::WORDS) * 8;
            let one = |index: u64| register(bytes.get(begin + index as usize * Register::BYTES..)?);
            range.map(one).collect::<Option<Vec<_>>>()
        };
        Some(Self {
            table,
            bytes: bytes.to_vec(),
            per_cpu: symbol(PER_CPU)?.address(),
            places,
            record: registers(0..records)?,
            demanded: registers(records..records + demanded)?,
        })
    }

    /// All vCPUs; none before the first partition runs. Fails if the machine has another hypervisor, or if its
    /// memory is not as the table says.
    pub fn vcpus(&self, machine: &Machine) -> Result<Vec<Vcpu>, String> {
        let mut there = vec![0; self.bytes.len()];
        let read = machine.look_at_real(self.table & REAL, &mut there);
        if read == 0 || there[..read].iter().all(|byte| *byte == 0) {
            return Ok(Vec::new());
        }
        if there != self.bytes {
            return Err("the machine runs another hypervisor than the image at hand".to_owned());
        }
        let wrong = || "the hypervisor has no partitions here".to_owned();
        let Some(system) = self.system(machine) else { return Ok(Vec::new()) };
        let mut vcpus = Vec::new();
        let partitions = self.list(machine, system + self.places.system_partitions);
        let (partitions, count) = partitions.ok_or_else(wrong)?;
        for (index, lpid) in (0..count).zip(1_u32..) {
            let partition = partitions + index * self.places.partition_bytes;
            if word(machine, partition + self.places.partition_lpid) as u32 != lpid {
                return Err(wrong());
            }
            let list = self.list(machine, partition + self.places.partition_vcpus);
            let (list, count) = list.ok_or_else(wrong)?;
            for number in 0..count {
                let at = list + number * self.places.vcpu_bytes;
                vcpus.push(self.vcpu(machine, lpid, number as usize, at).ok_or_else(wrong)?);
            }
        }
        Ok(vcpus)
    }

    /// The registers of a vCPU that does not run, by name, with the bytes of each. Fails with the hardware
    /// thread that has a part of them.
    pub fn registers(
        &self,
        machine: &Machine,
        vcpu: &Vcpu,
    ) -> Result<Vec<(String, u128, u64)>, Option<usize>> {
        let record = vcpu.record?;
        let mut registers = Vec::new();
        let demanded = match vcpu.demanded {
            0 => Vec::new(),
            demanded => listed(machine, demanded, &self.demanded),
        };
        registers.extend(listed(machine, record, &self.record));
        registers.extend(demanded);
        Ok(registers)
    }

    /// What all hardware threads share, as soon as one of them has entered a guest.
    fn system(&self, machine: &Machine) -> Option<u64> {
        let threads = machine.state().threads.iter();
        let addresses = threads.map(|thread| thread.spr(Spr::Hsprg0));
        let mut addresses = addresses.filter(|address| self.index(*address).is_some());
        addresses.find_map(|address| {
            Some(word(machine, address + self.places.per_cpu_system)).filter(|system| *system != 0)
        })
    }

    /// Whose `PerCpu` lies at `address`, as the hypervisor counts hardware threads.
    fn index(&self, address: u64) -> Option<u64> {
        let offset = (address & REAL).checked_sub(self.per_cpu & REAL)?;
        let is_one = offset.is_multiple_of(self.places.per_cpu_bytes);
        let index = offset / self.places.per_cpu_bytes;
        (is_one && index < MOST).then_some(index)
    }

    /// The hardware thread of the machine that the hypervisor counts so.
    fn thread(&self, machine: &Machine, index: u64) -> Option<usize> {
        let mut threads = machine.state().threads.iter();
        threads.position(|thread| self.index(thread.spr(Spr::Hsprg0)) == Some(index))
    }

    /// The address of what is in the list at `at`, and how much it is.
    fn list(&self, machine: &Machine, at: u64) -> Option<(u64, u64)> {
        let length = word(machine, at + self.places.list_length);
        let address = word(machine, at + self.places.list_address);
        (1..=MOST).contains(&length).then_some((address, length))
    }

    fn vcpu(&self, machine: &Machine, lpid: u32, number: usize, at: u64) -> Option<Vcpu> {
        let two = |offset| (word(machine, at + offset), word(machine, at + offset + 8));
        let activity = match two(self.places.vcpu_activity) {
            (activity::STOPPED, _) => Activity::Stopped,
            (activity::READY, _) => Activity::Ready,
            (activity::RUNNING, index) => Activity::Running(self.thread(machine, index)?),
            (activity::CEDED, _) => Activity::Ceded,
            (activity::AWAITS_PROD, _) => Activity::AwaitsProd,
            (activity::PAUSED, _) => Activity::Paused,
            _ => return None,
        };
        let record = match (activity, two(self.places.vcpu_residence)) {
            (Activity::Running(thread), _) => Err(Some(thread)),
            (_, (residence::THREAD, index)) => Err(self.thread(machine, index)),
            _ => match word(machine, at + self.places.vcpu_registers) {
                0 => Err(None),
                record => Ok(record),
            },
        };
        let demanded = word(machine, at + self.places.vcpu_demanded);
        Some(Vcpu { lpid, number, activity, record, demanded })
    }
}

/// What a table says of a register.
fn register(bytes: &[u8]) -> Option<Register> {
    let (name, rest) = bytes.split_first_chunk()?;
    let word = |index: usize| Some(u64::from_le_bytes(*rest.get(index * 8..)?.first_chunk()?));
    Some(Register { name: *name, count: word(0)?, bytes: word(1)?, offset: word(2)? })
}

fn name(register: &Register) -> String {
    let end = register.name.iter().position(|byte| *byte == 0).unwrap_or(Register::NAME);
    String::from_utf8_lossy(&register.name[..end]).into_owned()
}

/// The registers that a record at `at` has of `registers`.
fn listed(machine: &Machine, at: u64, registers: &[Register]) -> Vec<(String, u128, u64)> {
    let several = |register: &Register| {
        let Register { count, bytes, offset, .. } = *register;
        let name = name(register);
        (0..count).map(move |number| {
            let name = if count == 1 { name.clone() } else { format!("{name}{number}") };
            let at = at + offset + number * bytes;
            let high = if bytes == 16 { word(machine, at + 8) } else { 0 };
            (name, u128::from(high) << 64 | u128::from(word(machine, at)), bytes)
        })
    };
    registers.iter().flat_map(several).collect()
}

/// The word at an effective address of the hypervisor's; 0 where there is no memory.
fn word(machine: &Machine, address: u64) -> u64 {
    let mut bytes = [0; 8];
    let read = machine.look_at_host(address, &mut bytes);
    if read == bytes.len() { u64::from_le_bytes(bytes) } else { 0 }
}
