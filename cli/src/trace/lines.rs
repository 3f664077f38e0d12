//! The lines of a trace, and their file. What a line begins with is kept as text until it changes.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use arch::registers::spr::Spr;
use simulator::ledger::Clock;
use simulator::state::thread::Thread;

use crate::failure::Failure;
use crate::output::full;

/// Bytes that are written at a time.
const BUFFER: usize = 1 << 16;

/// Writes lines `SECONDS thread PIR lpid LPID NAME TEXT`.
pub(super) struct Lines {
    out: BufWriter<Box<dyn Write + Send>>,
    place: String,
    clock: Clock,
    partitions: Vec<String>,
    /// The cycle of the last line, and its seconds as text.
    time: (u64, Seconds),
    /// The last line's PIR, LPIDR and whether it is a guest's, and these as text.
    who: ((u64, u64, bool), Vec<u8>),
    /// The first failure to write; nothing is written after it.
    failed: Option<io::Error>,
}

impl Lines {
    /// Into a file, or to standard error. `partitions` are named by LPID, the first has 1.
    pub(super) fn new(
        path: Option<&Path>,
        clock: Clock,
        partitions: &[String],
    ) -> Result<Self, Failure> {
        let (place, out): (_, Box<dyn Write + Send>) = match path {
            None => ("standard error".to_owned(), Box::new(io::stderr())),
            Some(path) => {
                let place = path.display().to_string();
                let file = File::create(path).map_err(|error| full(&place, &error))?;
                (place, Box::new(file))
            }
        };
        Ok(Self {
            out: BufWriter::with_capacity(BUFFER, out),
            place,
            clock,
            partitions: partitions.to_vec(),
            time: (0, Seconds::of(0, clock)),
            who: ((u64::MAX, 0, false), Vec::new()),
            failed: None,
        })
    }

    /// Writes out what is buffered. Fails if anything could not be written.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let flushed = match self.failed.take() {
            None => self.out.flush(),
            Some(error) => Err(error),
        };
        flushed.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => full(&self.place, &error),
        })
    }

    /// A line about `thread`, now.
    #[inline]
    pub(super) fn line(&mut self, thread: &Thread, is_guest: bool, text: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let cycles = thread.time_now().cycles();
        if self.time.0 != cycles {
            self.time = (cycles, Seconds::of(cycles, self.clock));
        }
        let who = (thread.spr(Spr::Pir), thread.spr(Spr::Lpidr), is_guest);
        if self.who.0 != who {
            self.who = (who, self.name(who));
        }
        let parts = [self.time.1.text(), &self.who.1, text, b"\n"];
        let written = parts.iter().try_for_each(|part| self.out.write_all(part));
        self.failed = written.err();
    }

    fn name(&self, (pir, lpid, is_guest): (u64, u64, bool)) -> Vec<u8> {
        let name = match (is_guest, lpid.checked_sub(1)) {
            (true, Some(index)) => self.partitions.get(index as usize).map_or("-", String::as_str),
            _ => "-",
        };
        format!(" thread {pir:#x} lpid {lpid} {name} ").into_bytes()
    }
}

/// A number of seconds as text; the last digits of its array.
struct Seconds {
    digits: [u8; Self::LENGTH],
    from: usize,
}

impl Seconds {
    /// Twenty digits of a number of 64 bits, the point, and nine decimals.
    const LENGTH: usize = 30;
    const DECIMALS: u64 = 1_000_000_000;

    /// Simulated seconds with nine decimals.
    fn of(cycles: u64, clock: Clock) -> Self {
        let (mut whole, rest) = (cycles / clock.core_hz, cycles % clock.core_hz);
        let (rest, hz) = (u128::from(rest), u128::from(clock.core_hz));
        let mut decimals = ((rest * u128::from(Self::DECIMALS) + hz / 2) / hz) as u64;
        if decimals == Self::DECIMALS {
            (whole, decimals) = (whole + 1, 0);
        }
        let mut seconds = Self { digits: [b'0'; Self::LENGTH], from: Self::LENGTH };
        for _ in 0..9 {
            seconds.digit(decimals % 10);
            decimals /= 10;
        }
        seconds.from -= 1;
        seconds.digits[seconds.from] = b'.';
        loop {
            seconds.digit(whole % 10);
            whole /= 10;
            if whole == 0 {
                return seconds;
            }
        }
    }

    /// Puts a digit in front.
    fn digit(&mut self, digit: u64) {
        self.from -= 1;
        self.digits[self.from] += digit as u8;
    }

    fn text(&self) -> &[u8] {
        &self.digits[self.from..]
    }
}

#[cfg(test)]
mod tests {
    use simulator::ledger::Clock;

    use super::Seconds;

    #[test]
    fn times_are_rounded_to_nanoseconds() {
        let clock = Clock { core_hz: 3_800_000_000, timebase_hz: 512_000_000 };
        for (cycles, expected) in [
            (0, "0.000000000"),
            (1, "0.000000000"),
            (2, "0.000000001"),
            (3_800_000_000, "1.000000000"),
            (3_799_999_999, "1.000000000"),
            (3_799_999_996, "0.999999999"),
            (40_000_000_000_000, "10526.315789474"),
            (u64::MAX, "4854406335.186724109"),
        ] {
            assert_eq!(Seconds::of(cycles, clock).text(), expected.as_bytes());
        }
    }
}
