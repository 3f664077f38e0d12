//! PAPR: hypercall numbers, return codes and the RTAS calls behind H_RTAS.
//!
//! Source: `docs/facts/papr.md#numbers-and-status`; QEMU's `spapr.h` for the private range.

/// What a hypercall concerns: the last column of the table of hypercalls. It says who answers the call, and whether the
/// partition is locked meanwhile (`hypervisor/core/src/dispatch/private.rs`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// Nobody but the vCPU that makes it.
    Caller,
    /// A device: one of the partition's, or the processor's random number generator.
    Device,
    /// External interrupts.
    Interrupts,
    /// The hashed page table, which not every partition has: all of the second list, and nothing else.
    HashTable,
    /// Anything else of the partition, which is locked, unless the arguments say that it need not be.
    Partition,
}

macro_rules! hypercalls {
    (
        $($(#[$doc:meta])* $name:ident = $number:literal $text:literal $class:ident;)*;
        $($(#[$hash_doc:meta])* $hash_name:ident = $hash_number:literal $hash_text:literal;)*
    ) => {
        /// A hypercall that the project knows by name. The hypervisor may still not offer it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u64)]
        pub enum Hypercall {
            $($(#[$doc])* $name = $number,)*
            $($(#[$hash_doc])* $hash_name = $hash_number,)*
        }

        impl Hypercall {
            /// Every named hypercall.
            pub const ALL: &[Self] = &[$(Self::$name,)* $(Self::$hash_name),*];

            /// The hypercall with this number in r3.
            #[must_use]
            pub const fn from_number(number: u64) -> Option<Self> {
                match Self::of_any_partition(number) {
                    None => Self::of_hash_table(number),
                    call => call,
                }
            }

            /// The same, if every partition can make it. Inlined, so that the handler of hypercalls decides once.
            #[inline(always)]
            #[must_use]
            pub const fn of_any_partition(number: u64) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }

            /// The same, if it concerns the hashed page table, which not every partition has.
            #[must_use]
            pub const fn of_hash_table(number: u64) -> Option<Self> {
                match number { $($hash_number => Some(Self::$hash_name),)* _ => None }
            }

            /// PAPR's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* $(Self::$hash_name => $hash_text),* }
            }

            /// What it concerns. Inlined, as whoever asks: the handler of hypercalls makes one decision of all.
            #[inline(always)]
            #[must_use]
            pub const fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)* $(Self::$hash_name => Class::HashTable),* }
            }
        }
    };
}

hypercalls! {
    /// `(window, address)` to the entry for that page of the window.
    GetTce = 0x1C "H_GET_TCE" Device;
    /// `(window, address, entry)`: what a device finds at that page of the window.
    PutTce = 0x20 "H_PUT_TCE" Device;
    /// `(value)`: sets SPRG0.
    SetSprg0 = 0x24 "H_SET_SPRG0" Caller;
    /// `(flags, destination, source)`: zero or copy a page.
    PageInit = 0x2C "H_PAGE_INIT" Partition;
    /// `(terminal)` to length, characters 0-7, characters 8-15.
    GetTermChar = 0x54 "H_GET_TERM_CHAR" Partition;
    /// `(terminal, length, characters 0-7, characters 8-15)`, at most 16, packed big-endian.
    PutTermChar = 0x58 "H_PUT_TERM_CHAR" Partition;
    /// `(XIRR)`: end of interrupt; the priority in XIRR comes back.
    Eoi = 0x64 "H_EOI" Interrupts;
    /// `(priority)`: current processor priority.
    Cppr = 0x68 "H_CPPR" Interrupts;
    /// `(server, priority)`: request an interrupt of a vCPU; 0xFF takes the request back.
    Ipi = 0x6C "H_IPI" Interrupts;
    /// `(server)`: look without accepting.
    Ipoll = 0x70 "H_IPOLL" Interrupts;
    /// `()`: accept the pending interrupt.
    Xirr = 0x74 "H_XIRR" Interrupts;
    /// `(flags, vcpu, address)`: virtual processor area, trace log, SLB shadow.
    RegisterVpa = 0xDC "H_REGISTER_VPA" Partition;
    /// `()`: give the processor away until an interrupt.
    Cede = 0xE0 "H_CEDE" Partition;
    /// `(server or -1, dispatch count)`: give the processor to another vCPU.
    Confer = 0xE4 "H_CONFER" Partition;
    /// `(server)`: wake a ceded vCPU.
    Prod = 0xE8 "H_PROD" Partition;
    /// `(unit, queue, bytes)`: the queue that the unit's partner answers into, by its address in the window.
    RegCrq = 0xFC "H_REG_CRQ" Device;
    /// `(unit)`: the unit's partner answers no more. H_BUSY while a message to it is under way.
    FreeCrq = 0x100 "H_FREE_CRQ" Device;
    /// `(unit, mode)`: 1 if the unit interrupts when its partner has answered, 0 if not.
    VioSignal = 0x104 "H_VIO_SIGNAL" Device;
    /// `(unit, doubleword 0, doubleword 1)`: a message to the unit's partner.
    SendCrq = 0x108 "H_SEND_CRQ" Device;
    /// `(window, address, entry, count)`: the same entry for so many pages of the window.
    StuffTce = 0x138 "H_STUFF_TCE" Device;
    /// `(window, address, list, count)`: entries for so many pages, at most 512, from a page of memory.
    PutTceIndirect = 0x13C "H_PUT_TCE_INDIRECT" Device;
    /// `()` to what the processor can do about speculation, and what has to be done.
    GetCpuCharacteristics = 0x1C8 "H_GET_CPU_CHARACTERISTICS" Partition;
    /// `(unit)`: the unit's queue can be used again.
    EnableCrq = 0x2B0 "H_ENABLE_CRQ" Device;
    /// `()` to a random doubleword.
    Random = 0x300 "H_RANDOM" Device;
    /// `(flags, resource, value 1, value 2)`: interrupt location, and endianness of interrupts.
    SetMode = 0x31C "H_SET_MODE" Partition;
    /// `(flags, log2 of bytes)`: makes a hashed page table of another size ready, by H_LONG_BUSY until it is; 0: none.
    ResizeHptPrepare = 0x36C "H_RESIZE_HPT_PREPARE" Partition;
    /// `(flags, log2 of bytes)`: that table takes the place of the one in use, with its bolted entries.
    ResizeHptCommit = 0x370 "H_RESIZE_HPT_COMMIT" Partition;
    /// `(flags, base, page size, table size)`: the partition's process table.
    RegisterProcTbl = 0x37C "H_REGISTER_PROC_TBL" Partition;
    /// `(argument buffer)`: an RTAS call. Private to KVM and QEMU.
    Rtas = 0xF000 "H_RTAS" Partition;
    ;
    /// `(flags, slot, address)`: takes an entry out of the hashed page table; to what it was.
    Remove = 0x04 "H_REMOVE";
    /// `(flags, slot, first doubleword, second doubleword)`: puts an entry into the hashed page table; to its slot.
    Enter = 0x08 "H_ENTER";
    /// `(flags, slot)` to the entry there, or to the four around it.
    Read = 0x0C "H_READ";
    /// `(flags, slot)`: clears an entry's C; to the second doubleword as it was.
    ClearMod = 0x10 "H_CLEAR_MOD";
    /// `(flags, slot)`: clears an entry's R; to the second doubleword as it was.
    ClearRef = 0x14 "H_CLEAR_REF";
    /// `(flags, slot, address)`: changes an entry's rights, which are in the flags.
    Protect = 0x18 "H_PROTECT";
    /// `(request, address, ...)`, four times: takes entries out of the hashed page table; to what became of each.
    BulkRemove = 0x124 "H_BULK_REMOVE";
    /// `()`: takes entries out of the hashed page table; H_CONTINUE until all are out.
    ClearHpt = 0x358 "H_CLEAR_HPT";
    /// `(address, request, ...)`, eight requests: takes entries of one block of eight pages out of the hashed page
    /// table; to what became of each.
    BlockRemove = 0x328 "H_BLOCK_REMOVE";
}

impl Hypercall {
    /// Whether a device answers it: one of the partition's, or the processor's random number generator.
    #[inline(always)]
    #[must_use]
    pub const fn is_of_device(self) -> bool {
        matches!(self.class(), Class::Device)
    }

    /// Whether it is of external interrupts.
    #[inline(always)]
    #[must_use]
    pub const fn is_of_interrupts(self) -> bool {
        matches!(self.class(), Class::Interrupts)
    }
}

const _: () = {
    let mut calls = Hypercall::ALL;
    while let [call, others @ ..] = calls {
        calls = others;
        let is_of_any = Hypercall::of_any_partition(*call as u64).is_some();
        assert!(is_of_any != matches!(call.class(), Class::HashTable), "it is in the other list");
    }
};

/// Flags of the calls of the hashed page table, and the words of H_BULK_REMOVE and H_BLOCK_REMOVE
/// (`docs/facts/papr.md#hashed-page-table`).
pub mod hashed {
    use crate::bits::Field;

    /// H_ENTER: into this slot, not into one of its group.
    pub const EXACT: u64 = 1 << 39;
    /// H_READ: the pages of entries in the partition's own addresses.
    pub const TRANSLATE: u64 = 1 << 38;
    /// H_READ: four entries.
    pub const READ_4: u64 = 1 << 37;
    /// Only if the entry's first doubleword is the address, but for its seven low bits.
    pub const AVPN: u64 = 1 << 31;
    /// Only if the entry's first doubleword has none of these bits.
    pub const AND_CONDITION: u64 = 1 << 30;
    /// H_PROTECT: the highest bit of pp.
    pub const PP0: u64 = 0x100;
    /// H_PROTECT: the two high bits of the key.
    pub const KEY_HIGH: u64 = 0x3000;
    /// H_PROTECT: the three low bits of the key, N and the two low bits of pp, where an entry has them.
    pub const RIGHTS: u64 = 0xE07;

    /// H_BULK_REMOVE: pairs in r4 to r11.
    pub const PAIRS: usize = 4;
    /// What the first doubleword of a pair is.
    pub const KIND: Field = Field::new(0, 1);
    /// [`KIND`] of a pair that asks.
    pub const REQUEST: u64 = 1;
    /// [`KIND`] of an answer.
    pub const RESPONSE: u64 = 2;
    /// [`KIND`] behind the last pair.
    pub const END: u64 = 3;
    /// What became of a request.
    pub const RESULT: Field = Field::new(2, 3);
    /// [`RESULT`]: it is done, and R and C are there too.
    pub const DONE: u64 = 0;
    /// [`RESULT`]: there is no such entry.
    pub const MISSING: u64 = 1;
    /// [`RESULT`]: the request is wrong.
    pub const WRONG: u64 = 2;
    /// R and C of an entry that was taken out.
    pub const MARKS: Field = Field::new(4, 5);
    /// On which condition an entry is taken out.
    pub const CONDITION: Field = Field::new(6, 7);
    /// [`CONDITION`]: on none.
    pub const ABSOLUTE: u64 = 0;
    /// [`CONDITION`]: as with [`AND_CONDITION`].
    pub const BY_AND: u64 = 1;
    /// [`CONDITION`]: as with [`AVPN`].
    pub const BY_AVPN: u64 = 2;
    /// The entry's slot.
    pub const SLOT: Field = Field::new(8, 63);

    /// H_BLOCK_REMOVE: requests in r5 to r12, answers in r4 to r11, of pages in one aligned block of so many. [`KIND`]
    /// and [`SLOT`] are where H_BULK_REMOVE has them.
    pub const BLOCK: usize = 8;
    /// The same as a power of two.
    pub const BLOCK_LOG2: u32 = BLOCK.trailing_zeros();
    /// H_BLOCK_REMOVE: what became of a request.
    pub const BLOCK_RESULT: Field = Field::new(2, 4);
    /// [`BLOCK_RESULT`]: it is done, and R and C are there too.
    pub const BLOCK_DONE: u64 = 0;
    /// [`BLOCK_RESULT`]: there is no such entry, or [`BOLTED`] is set in it.
    pub const BLOCK_MISSING: u64 = 1;
    /// [`BLOCK_RESULT`]: the slot is not in the table, or blocks of such pages cannot be removed.
    pub const BLOCK_WRONG: u64 = 2;
    /// [`BLOCK_RESULT`]: its page or its segment has another size than that of the first one.
    pub const BLOCK_UNLIKE: u64 = 3;
    /// [`BLOCK_RESULT`]: another processor changes the entry.
    pub const BLOCK_BUSY: u64 = 4;
    /// [`BLOCK_RESULT`]: it is in another block than the first one.
    pub const BLOCK_BEYOND: u64 = 5;
    /// R and C of an entry that H_BLOCK_REMOVE has taken out.
    pub const BLOCK_MARKS: Field = Field::new(5, 6);
    /// H_BLOCK_REMOVE: as with [`AVPN`].
    pub const BLOCK_BY_AVPN: u64 = 1 << 56;
    /// Of an entry's first doubleword: H_BLOCK_REMOVE leaves it where it is.
    pub const BOLTED: u64 = 0x10;
}

/// Bits of what H_GET_CPU_CHARACTERISTICS answers. Source: `docs/facts/papr.md#characteristics-of-the-processor`.
pub mod characteristics {
    /// What the processor can do: `ori 31,31,0` is a barrier for speculation.
    pub const BARRIER_ORI31: u64 = 1 << 63;
    /// `bcctr` is not speculated past.
    pub const BCCTR_SERIALIZED: u64 = 1 << 62;
    /// `ori 30,30,0` empties the L1 data cache.
    pub const FLUSH_ORI30: u64 = 1 << 61;
    /// A write of TRIG2 empties the L1 data cache.
    pub const FLUSH_TRIG2: u64 = 1 << 60;
    /// The hardware threads of a core share no line of the L1 data cache.
    pub const L1D_THREAD_SPLIT: u64 = 1 << 59;
    /// Branch hints are obeyed.
    pub const BRANCH_HINTS: u64 = 1 << 58;
    /// TRIG0 and TRIG1 change how many threads run.
    pub const THREAD_RECONFIGURATION: u64 = 1 << 57;
    /// There is no count cache in use.
    pub const COUNT_CACHE_DISABLED: u64 = 1 << 56;
    /// `bcctr 2,0,0` helps to empty the count cache.
    pub const BCCTR_FLUSHES: u64 = 1 << 54;

    /// What software has to do: security goes before speed.
    pub const FAVOR_SECURITY: u64 = 1 << 63;
    /// It empties the L1 data cache on the way to problem state.
    pub const FLUSH_TO_PROBLEM_STATE: u64 = 1 << 62;
    /// It has barriers behind checks of bounds.
    pub const BARRIER_BEHIND_BOUNDS: u64 = 1 << 61;
    /// It empties the count cache at switches of context.
    pub const FLUSH_COUNT_CACHE: u64 = 1 << 58;
    /// It empties the link stack there.
    pub const FLUSH_LINK_STACK: u64 = 1 << 57;
    /// It need not empty the L1 data cache on the way out of problem state.
    pub const NO_FLUSH_FROM_PROBLEM_STATE: u64 = 1 << 56;
    /// It need not drain stores at changes of the privilege.
    pub const NO_STORE_BARRIER: u64 = 1 << 54;
}

/// H_CONFER's argument for all other vCPUs of the partition; if there are none, for whoever is next.
pub const ALL_OTHERS: u64 = u64::MAX;

/// Hypercall return codes, in r3, signed.
pub mod status {
    /// Done.
    pub const H_SUCCESS: i64 = 0;
    /// Try again.
    pub const H_BUSY: i64 = 1;
    /// Nobody is at the other end.
    pub const H_CLOSED: i64 = 2;
    /// Some of it is done.
    pub const H_PARTIAL: i64 = 5;
    /// Some of it is done: the call is to be made again.
    pub const H_CONTINUE: i64 = 18;
    /// Try again in a millisecond or so.
    pub const H_LONG_BUSY_ORDER_1_MSEC: i64 = 9900;
    /// The hardware failed.
    pub const H_HARDWARE: i64 = -1;
    /// There is no such call.
    pub const H_FUNCTION: i64 = -2;
    /// Not from problem state, or not for this partition.
    pub const H_PRIVILEGE: i64 = -3;
    /// An argument is wrong; which one the call's definition says.
    pub const H_PARAMETER: i64 = -4;
    /// The group of the hashed page table has no place.
    pub const H_PTEG_FULL: i64 = -6;
    /// There is no such entry.
    pub const H_NOT_FOUND: i64 = -7;
    /// No resources.
    pub const H_RESOURCE: i64 = -16;
    /// Argument 2 is wrong.
    pub const H_P2: i64 = -55;
    /// Argument 3 is wrong.
    pub const H_P3: i64 = -56;
    /// Argument 4 is wrong.
    pub const H_P4: i64 = -57;
    /// The first flag bit that is not supported is `-256 - bit`.
    pub const H_UNSUPPORTED_FLAG_START: i64 = -256;

    /// The code's name, if the project knows it.
    #[must_use]
    pub const fn name(code: i64) -> Option<&'static str> {
        Some(match code {
            H_SUCCESS => "H_SUCCESS",
            H_BUSY => "H_BUSY",
            H_CLOSED => "H_CLOSED",
            H_PARTIAL => "H_PARTIAL",
            H_CONTINUE => "H_CONTINUE",
            H_LONG_BUSY_ORDER_1_MSEC => "H_LONG_BUSY_ORDER_1_MSEC",
            H_HARDWARE => "H_HARDWARE",
            H_FUNCTION => "H_FUNCTION",
            H_PRIVILEGE => "H_PRIVILEGE",
            H_PARAMETER => "H_PARAMETER",
            H_PTEG_FULL => "H_PTEG_FULL",
            H_NOT_FOUND => "H_NOT_FOUND",
            H_RESOURCE => "H_RESOURCE",
            H_P2 => "H_P2",
            H_P3 => "H_P3",
            H_P4 => "H_P4",
            _ => return None,
        })
    }
}

/// Flags of H_REGISTER_PROC_TBL (`docs/facts/papr.md#h_register_proc_tbl`).
pub mod process_table {
    /// Register a new table.
    pub const REGISTER: u64 = 0x18;
    /// Forget the table.
    pub const DEREGISTER: u64 = 0x10;
    /// The partition has segment tables, for hashed translation.
    pub const SEGMENT_TABLES: u64 = 0x02;
    /// The table is for radix translation.
    pub const RADIX: u64 = 0x04;
    /// The guest issues `tlbie` itself.
    pub const GTSE: u64 = 0x01;
}

/// Resources and values of H_SET_MODE (`docs/facts/papr.md#h_set_mode`).
pub mod mode {
    /// Resource: completed instruction address breakpoint.
    pub const CIABR: u64 = 1;
    /// Resource: data watchpoint 0.
    pub const DAWR0: u64 = 2;
    /// Resource: alternate interrupt location, the AIL value in the flags.
    pub const INTERRUPT_LOCATION: u64 = 3;
    /// Resource: endianness of interrupts, 0 big and 1 little in the flags.
    pub const ENDIANNESS: u64 = 4;
}

/// Functions of H_REGISTER_VPA, in the flags (`docs/facts/papr.md#h_register_vpa`).
pub mod area {
    use crate::bits::Field;

    /// Which function.
    pub const FUNCTION: Field = Field::new(16, 18);
    /// Register a virtual processor area.
    pub const REGISTER_AREA: u64 = 1;
    /// Register a dispatch trace log.
    pub const REGISTER_LOG: u64 = 2;
    /// Register an SLB shadow.
    pub const REGISTER_SHADOW: u64 = 3;
    /// Forget the virtual processor area.
    pub const DEREGISTER_AREA: u64 = 5;
    /// Forget the dispatch trace log.
    pub const DEREGISTER_LOG: u64 = 6;
    /// Forget the SLB shadow.
    pub const DEREGISTER_SHADOW: u64 = 7;
}

/// Flags of H_PAGE_INIT (`docs/facts/papr.md#h_page_init`).
pub mod page {
    /// Copy the source page.
    pub const COPY: u64 = 1 << 14;
    /// Zero the page.
    pub const ZERO: u64 = 1 << 15;
    /// Make earlier stores to the page fetchable.
    pub const ICACHE_SYNCHRONIZE: u64 = 1 << 22;
    /// Forget fetched instructions of the page.
    pub const ICACHE_INVALIDATE: u64 = 1 << 23;
}

/// Translation control entries: what devices of a partition find at the addresses of a window
/// (`docs/facts/papr.md#windows-for-devices`).
pub mod tce {
    /// A device may read the page.
    pub const READ: u64 = 1;
    /// A device may write to the page.
    pub const WRITE: u64 = 2;
    /// Size of a window's page, as a power of two; the page's guest real address is in the other bits of an entry.
    pub const PAGE_LOG2: u32 = 12;
    /// Entries of H_PUT_TCE_INDIRECT at most: its list is a page.
    pub const LIST_MAX: u64 = 512;
    /// The number (LIOBN) of a partition's window. The hypervisor's own choice.
    pub const WINDOW: u64 = 0x1000_0000;
    /// Bytes of a window at most, of which a page has an entry. The hypervisor's own choice.
    pub const WINDOW_BYTES_MAX: u64 = 256 << 20;

    /// Whether a window can have so many bytes.
    #[must_use]
    pub const fn is_window(bytes: u64) -> bool {
        bytes != 0 && bytes <= WINDOW_BYTES_MAX && bytes.is_multiple_of(1 << PAGE_LOG2)
    }
}

/// RTAS calls: the tokens that the hypervisor puts into a partition's device tree. The numbers are the
/// hypervisor's own choice.
pub mod rtas {
    /// `power-off`: ends the partition.
    pub const POWER_OFF: u32 = 0x2000;
    /// `system-reboot`: starts the partition anew.
    pub const SYSTEM_REBOOT: u32 = 0x2001;
    /// `start-cpu (server, address, r3)`.
    pub const START_CPU: u32 = 0x2002;
    /// `stop-self`.
    pub const STOP_SELF: u32 = 0x2003;
    /// `query-cpu-stopped-state (server)` to the state.
    pub const QUERY_CPU_STOPPED_STATE: u32 = 0x2004;
    /// `get-time-of-day` to year, month, day, hour, minute, second, nanosecond.
    pub const GET_TIME_OF_DAY: u32 = 0x2005;
    /// `set-time-of-day (year, month, day, hour, minute, second, nanosecond)`.
    pub const SET_TIME_OF_DAY: u32 = 0x2006;
    /// `ibm,set-xive (source, server, priority)`.
    pub const SET_XIVE: u32 = 0x2007;
    /// `ibm,get-xive (source)` to server and priority.
    pub const GET_XIVE: u32 = 0x2008;
    /// `ibm,int-off (source)`.
    pub const INT_OFF: u32 = 0x2009;
    /// `ibm,int-on (source)`.
    pub const INT_ON: u32 = 0x200A;
    /// `display-character (character)`.
    pub const DISPLAY_CHARACTER: u32 = 0x200B;
    /// `ibm,get-system-parameter (parameter, buffer, length)`.
    pub const GET_SYSTEM_PARAMETER: u32 = 0x200C;

    /// The properties of the `/rtas` node, with their tokens.
    pub const PROPERTIES: [(&str, u32); 13] = [
        ("power-off", POWER_OFF),
        ("system-reboot", SYSTEM_REBOOT),
        ("start-cpu", START_CPU),
        ("stop-self", STOP_SELF),
        ("query-cpu-stopped-state", QUERY_CPU_STOPPED_STATE),
        ("get-time-of-day", GET_TIME_OF_DAY),
        ("set-time-of-day", SET_TIME_OF_DAY),
        ("ibm,set-xive", SET_XIVE),
        ("ibm,get-xive", GET_XIVE),
        ("ibm,int-off", INT_OFF),
        ("ibm,int-on", INT_ON),
        ("display-character", DISPLAY_CHARACTER),
        ("ibm,get-system-parameter", GET_SYSTEM_PARAMETER),
    ];

    /// State of a processor: stopped.
    pub const CPU_STATUS_STOPPED: u32 = 0;
    /// State of a processor: not stopped.
    pub const CPU_STATUS_RUNNING: u32 = 2;

    /// RTAS return code: done.
    pub const SUCCESS: i32 = 0;
    /// RTAS return code: it could not be done.
    pub const HARDWARE: i32 = -1;
    /// RTAS return code: the arguments are wrong.
    pub const PARAMETER: i32 = -3;
    /// RTAS return code of `ibm,get-system-parameter`: there is no such parameter.
    pub const NOT_SUPPORTED: i32 = -3;
    /// RTAS return code of `ibm,get-system-parameter`: the buffer is wrong.
    pub const BUFFER: i32 = -9999;
    /// Parameter of `ibm,get-system-parameter`: the blocks of H_BLOCK_REMOVE, each as the log2 of its pages, how many
    /// page sizes follow, and these: bit 0 is an entry's L, bits 2:7 its code.
    pub const TLB_BLOCKS: u32 = 50;
}

/// The instruction `sc 1`.
pub const HYPERCALL_WORD: u32 = 0x4400_0022;

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Hypercall, rtas, status};

    /// As in PAPR and Linux's `hvcall.h`.
    const STATUSES: &[(i64, &str)] = &[
        (0, "H_SUCCESS"),
        (1, "H_BUSY"),
        (2, "H_CLOSED"),
        (5, "H_PARTIAL"),
        (18, "H_CONTINUE"),
        (-1, "H_HARDWARE"),
        (-2, "H_FUNCTION"),
        (-3, "H_PRIVILEGE"),
        (-4, "H_PARAMETER"),
        (-6, "H_PTEG_FULL"),
        (-7, "H_NOT_FOUND"),
        (-16, "H_RESOURCE"),
        (-55, "H_P2"),
        (-56, "H_P3"),
        (-57, "H_P4"),
    ];

    #[test]
    fn return_codes_have_the_names_of_the_published_interface() {
        for code in -300..300 {
            let published = STATUSES.iter().find(|(number, _)| *number == code).map(|code| code.1);
            assert_eq!(status::name(code), published, "{code}");
        }
        assert_eq!(status::H_UNSUPPORTED_FLAG_START, -256);
        assert_eq!((rtas::SUCCESS, rtas::PARAMETER), (0, -3));
    }

    #[test]
    fn a_hypercall_is_found_by_its_number() {
        for &call in Hypercall::ALL {
            assert_eq!(Hypercall::from_number(call as u64), Some(call));
            assert!(call.name().starts_with("H_"), "{}", call.name());
        }
        assert_eq!(Hypercall::from_number(0xE0).map(Hypercall::name), Some("H_CEDE"));
        assert_eq!(Hypercall::from_number(0x2D), None);
    }

    proptest! {
        #[test]
        fn only_the_numbers_of_hypercalls_are_found(number: u64, shift in 0..64_u32) {
            let number = number >> shift;
            let known = Hypercall::ALL.iter().find(|call| **call as u64 == number);
            prop_assert_eq!(Hypercall::from_number(number), known.copied());
        }
    }
}
