//! The console: characters to and from the partition's terminal, or firmware's.

use core::fmt::{self, Write};

#[cfg(not(feature = "bare"))]
pub use self::of_partition::read;

/// The partition's terminal, or firmware's console.
#[derive(Clone, Copy, Debug)]
pub struct Console;

/// Prints; a terminal that refuses characters loses them.
pub fn print(text: fmt::Arguments<'_>) {
    // The text goes out in few calls, not one for each of its pieces.
    let mut line = Line { bytes: [0; 256], used: 0 };
    let _ = line.write_fmt(text);
    line.flush();
}

struct Line {
    bytes: [u8; 256],
    used: usize,
}

impl Line {
    fn flush(&mut self) {
        if let Ok(text) = core::str::from_utf8(&self.bytes[..self.used]) {
            let _ = Console.write_str(text);
        }
        self.used = 0;
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            if self.used + bytes.len() > self.bytes.len() {
                self.flush();
            }
            self.bytes[self.used..self.used + bytes.len()].copy_from_slice(bytes);
            self.used += bytes.len();
        }
        Ok(())
    }
}

#[cfg(not(feature = "bare"))]
mod of_partition {
    use core::fmt::{self, Write};

    use arch::papr::Hypercall;

    use super::Console;
    use crate::hypercall::{hypercall, hypercall_outputs};
    use crate::terminal::{CHARACTERS_MAX, pack, unpack};

    impl Write for Console {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for chunk in text.as_bytes().chunks(CHARACTERS_MAX) {
                let [first, second] = pack(chunk);
                let arguments = [0, chunk.len() as u64, first, second];
                if hypercall(Hypercall::PutTermChar as u64, arguments) != 0 {
                    return Err(fmt::Error);
                }
            }
            Ok(())
        }
    }

    /// What was typed on the terminal since the last time, at most 16 characters: how many.
    pub fn read(into: &mut [u8; CHARACTERS_MAX]) -> usize {
        let (status, [length, first, second]) =
            hypercall_outputs(Hypercall::GetTermChar as u64, [0; 4]);
        if status != 0 {
            return 0;
        }
        *into = unpack([first, second]);
        CHARACTERS_MAX.min(length as usize)
    }
}
