//! OPAL: tokens, return codes and the state that a call needs.
//!
//! Source: `docs/facts/opal-and-powernv.md#tokens`; numbers from skiboot's `opal-api.h`.

/// Call tokens, in r0.
pub mod token {
    /// `(value)`: answers 0xfeedf00d.
    pub const TEST: u64 = 0;
    /// `(terminal, *be64 length, buffer)`.
    pub const CONSOLE_WRITE: u64 = 1;
    /// `(terminal, *be64 length, buffer)`.
    pub const CONSOLE_READ: u64 = 2;
    /// `(*be32 yyyymmdd, *be64 hhmmss..)`, binary-coded decimal.
    pub const RTC_READ: u64 = 3;
    /// `(kind)`. Asynchronous: poll until the machine is off.
    pub const CEC_POWER_DOWN: u64 = 5;
    /// `()`.
    pub const CEC_REBOOT: u64 = 6;
    /// `(source, *be64 events)`: firmware looks at what its interrupt was for.
    pub const HANDLE_INTERRUPT: u64 = 9;
    /// `(*be64 events, or null)`.
    pub const POLL_EVENTS: u64 = 10;
    /// `(source, server << 2, priority)`; 0xFF masks.
    pub const SET_XIVE: u64 = 19;
    /// `(source, *be16 server << 2, *u8 priority)`.
    pub const GET_XIVE: u64 = 20;
    /// `(terminal, *be64 length)`.
    pub const CONSOLE_WRITE_BUFFER_SPACE: u64 = 25;
    /// `(server, address)`.
    pub const START_CPU: u64 = 41;
    /// `(server, *u8 status)`.
    pub const QUERY_CPU_STATUS: u64 = 42;
    /// `()`: gives the thread back to OPAL and does not return.
    pub const RETURN_CPU: u64 = 69;
    /// `(flags)`, see [`super::reinit`].
    pub const REINIT_CPUS: u64 = 70;
    /// `()`.
    pub const RESYNC_TIMEBASE: u64 = 79;
    /// `(token)`: 1 present, 0 absent.
    pub const CHECK_TOKEN: u64 = 80;
    /// `()`: waits until a service processor has let go of the host.
    pub const SYNC_HOST_REBOOT: u64 = 87;
    /// `()`: firmware looks at what a hypervisor maintenance interrupt was for.
    pub const HANDLE_HMI: u64 = 98;
    /// `(pir, number, value)`: a register that firmware sets after a `stop` that lost it.
    pub const SLW_SET_REG: u64 = 100;
    /// `(type, text)`.
    pub const CEC_REBOOT2: u64 = 116;
    /// `(terminal)`.
    pub const CONSOLE_FLUSH: u64 = 117;
    /// `(*be32 xirr, only_looks)`: accepts the most favoured interrupt.
    pub const INT_GET_XIRR: u64 = 122;
    /// `(priority)`.
    pub const INT_SET_CPPR: u64 = 123;
    /// `(xirr)`: above 0 if another interrupt waits.
    pub const INT_EOI: u64 = 124;
    /// `(server, priority)`.
    pub const INT_SET_MFRR: u64 = 125;
    /// `(chip or -1, ptcr)`.
    pub const NMMU_SET_PTCR: u64 = 127;
    /// `(server)`: a system reset for another thread.
    pub const SIGNAL_SYSTEM_RESET: u64 = 145;
    /// `(kind, server or -1)`, see [`super::quiesce`]: keeps threads out of firmware.
    pub const QUIESCE: u64 = 158;
    /// `(*be64 flags)`: as [`HANDLE_HMI`].
    pub const HANDLE_HMI2: u64 = 166;

    /// The token's name, if the project knows it.
    #[must_use]
    pub const fn name(token: u64) -> Option<&'static str> {
        Some(match token {
            TEST => "OPAL_TEST",
            CONSOLE_WRITE => "OPAL_CONSOLE_WRITE",
            CONSOLE_READ => "OPAL_CONSOLE_READ",
            RTC_READ => "OPAL_RTC_READ",
            CEC_POWER_DOWN => "OPAL_CEC_POWER_DOWN",
            CEC_REBOOT => "OPAL_CEC_REBOOT",
            POLL_EVENTS => "OPAL_POLL_EVENTS",
            CONSOLE_WRITE_BUFFER_SPACE => "OPAL_CONSOLE_WRITE_BUFFER_SPACE",
            START_CPU => "OPAL_START_CPU",
            QUERY_CPU_STATUS => "OPAL_QUERY_CPU_STATUS",
            RETURN_CPU => "OPAL_RETURN_CPU",
            REINIT_CPUS => "OPAL_REINIT_CPUS",
            CHECK_TOKEN => "OPAL_CHECK_TOKEN",
            CEC_REBOOT2 => "OPAL_CEC_REBOOT2",
            CONSOLE_FLUSH => "OPAL_CONSOLE_FLUSH",
            HANDLE_INTERRUPT => "OPAL_HANDLE_INTERRUPT",
            SET_XIVE => "OPAL_SET_XIVE",
            GET_XIVE => "OPAL_GET_XIVE",
            RESYNC_TIMEBASE => "OPAL_RESYNC_TIMEBASE",
            SYNC_HOST_REBOOT => "OPAL_SYNC_HOST_REBOOT",
            INT_GET_XIRR => "OPAL_INT_GET_XIRR",
            INT_SET_CPPR => "OPAL_INT_SET_CPPR",
            INT_EOI => "OPAL_INT_EOI",
            INT_SET_MFRR => "OPAL_INT_SET_MFRR",
            NMMU_SET_PTCR => "OPAL_NMMU_SET_PTCR",
            HANDLE_HMI => "OPAL_HANDLE_HMI",
            SLW_SET_REG => "OPAL_SLW_SET_REG",
            SIGNAL_SYSTEM_RESET => "OPAL_SIGNAL_SYSTEM_RESET",
            QUIESCE => "OPAL_QUIESCE",
            HANDLE_HMI2 => "OPAL_HANDLE_HMI2",
            _ => return None,
        })
    }
}

/// Return codes, in r3, signed.
pub mod status {
    /// Done.
    pub const SUCCESS: i64 = 0;
    /// An argument, or the token itself, is wrong.
    pub const PARAMETER: i64 = -1;
    /// Try again.
    pub const BUSY: i64 = -2;
    /// Done in part.
    pub const PARTIAL: i64 = -3;
    /// Not in this way.
    pub const CONSTRAINED: i64 = -4;
    /// The other side is not there.
    pub const CLOSED: i64 = -5;
    /// The hardware failed.
    pub const HARDWARE: i64 = -6;
    /// Not on this machine.
    pub const UNSUPPORTED: i64 = -7;
    /// Firmware could not do it.
    pub const INTERNAL_ERROR: i64 = -11;
    /// Poll for events, then try again.
    pub const BUSY_EVENT: i64 = -12;
    /// Not in this state of the machine.
    pub const WRONG_STATE: i64 = -14;
}

/// Flags of `OPAL_REINIT_CPUS`.
pub mod reinit {
    /// Interrupts arrive big-endian.
    pub const HILE_BIG: u64 = 1;
    /// Interrupts arrive little-endian.
    pub const HILE_LITTLE: u64 = 2;
    /// The host will use hashed translation.
    pub const MMU_HASH: u64 = 4;
    /// The host will use radix translation.
    pub const MMU_RADIX: u64 = 8;
}

/// Kinds of `OPAL_QUIESCE`.
pub mod quiesce {
    /// New calls wait until [`RESUME`].
    pub const HOLD: u64 = 1;
    /// New calls fail with [`super::status::BUSY`] until [`RESUME`].
    pub const REJECT: u64 = 2;
    /// Firmware's locks do not count any more.
    pub const LOCK_BREAK: u64 = 3;
    /// Undoes the others.
    pub const RESUME: u64 = 4;
    /// The same, on the way to a fast reboot.
    pub const RESUME_FAST_REBOOT: u64 = 5;
}

/// Flags of a power-saving state in `ibm,cpu-idle-state-flags`.
pub mod idle {
    /// Decrementers stand still.
    pub const DECREMENTER_STOPS: u32 = 0x0000_0001;
    /// The time base stands still.
    pub const TIME_BASE_STOPS: u32 = 0x0000_0002;
    /// The thread's own registers are lost.
    pub const THREAD_LOST: u32 = 0x0000_1000;
    /// The hypervisor's registers are lost.
    pub const HYPERVISOR_LOST: u32 = 0x0000_2000;
    /// All registers are lost.
    pub const ALL_LOST: u32 = 0x0000_4000;
    /// Reached by `nap`.
    pub const NAP: u32 = 0x0001_0000;
    /// Reached by `stop`; the hypervisor's registers survive.
    pub const STOP_FAST: u32 = 0x0010_0000;
    /// Reached by `stop`; they do not.
    pub const STOP_DEEP: u32 = 0x0020_0000;
}

/// Answers of `OPAL_QUERY_CPU_STATUS`.
pub mod cpu_status {
    /// The thread waits inside OPAL.
    pub const IN_OPAL: u8 = 0;
    /// The thread runs the operating system.
    pub const STARTED: u8 = 1;
    /// There is no such thread, or it failed.
    pub const UNAVAILABLE: u8 = 2;
}

/// Events of `OPAL_POLL_EVENTS`.
pub mod event {
    /// Console input waits.
    pub const CONSOLE_INPUT: u64 = 0x10;
}

/// The console ring of skiboot: a longer write succeeds with what fits.
pub const CONSOLE_RING_BYTES: u64 = 4096;

/// What `OPAL_TEST` answers.
pub const TEST_ANSWER: u64 = 0xFEED_F00D;

/// Register r6 at the payload's entry: the ePAPR magic.
pub const EPAPR_MAGIC: u64 = 0x6550_4150;

#[cfg(test)]
mod tests {
    use super::{status, token};

    /// As in skiboot's `opal-api.h`.
    const TOKENS: &[(u64, &str)] = &[
        (0, "OPAL_TEST"),
        (1, "OPAL_CONSOLE_WRITE"),
        (2, "OPAL_CONSOLE_READ"),
        (3, "OPAL_RTC_READ"),
        (5, "OPAL_CEC_POWER_DOWN"),
        (6, "OPAL_CEC_REBOOT"),
        (9, "OPAL_HANDLE_INTERRUPT"),
        (10, "OPAL_POLL_EVENTS"),
        (19, "OPAL_SET_XIVE"),
        (20, "OPAL_GET_XIVE"),
        (25, "OPAL_CONSOLE_WRITE_BUFFER_SPACE"),
        (41, "OPAL_START_CPU"),
        (42, "OPAL_QUERY_CPU_STATUS"),
        (69, "OPAL_RETURN_CPU"),
        (70, "OPAL_REINIT_CPUS"),
        (79, "OPAL_RESYNC_TIMEBASE"),
        (80, "OPAL_CHECK_TOKEN"),
        (87, "OPAL_SYNC_HOST_REBOOT"),
        (98, "OPAL_HANDLE_HMI"),
        (100, "OPAL_SLW_SET_REG"),
        (116, "OPAL_CEC_REBOOT2"),
        (117, "OPAL_CONSOLE_FLUSH"),
        (122, "OPAL_INT_GET_XIRR"),
        (123, "OPAL_INT_SET_CPPR"),
        (124, "OPAL_INT_EOI"),
        (125, "OPAL_INT_SET_MFRR"),
        (127, "OPAL_NMMU_SET_PTCR"),
        (145, "OPAL_SIGNAL_SYSTEM_RESET"),
        (158, "OPAL_QUIESCE"),
        (166, "OPAL_HANDLE_HMI2"),
    ];

    #[test]
    fn tokens_have_the_names_of_the_published_interface() {
        for number in 0..256 {
            let published = TOKENS.iter().find(|(token, _)| *token == number).map(|token| token.1);
            assert_eq!(token::name(number), published, "{number}");
        }
    }

    #[test]
    fn every_status_but_success_is_negative() {
        assert_eq!(status::SUCCESS, 0);
        let failures = [
            (status::PARAMETER, 1),
            (status::BUSY, 2),
            (status::PARTIAL, 3),
            (status::CONSTRAINED, 4),
            (status::CLOSED, 5),
            (status::HARDWARE, 6),
            (status::UNSUPPORTED, 7),
            (status::INTERNAL_ERROR, 11),
            (status::BUSY_EVENT, 12),
            (status::WRONG_STATE, 14),
        ];
        for (status, magnitude) in failures {
            assert_eq!(status, -magnitude);
        }
    }
}
