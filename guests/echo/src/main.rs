//! echo: prompts, and says back each line that is typed on its terminal, until that is `exit`.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use arch::interrupt::Vector;
    use arch::papr::Hypercall;

    rt::main!(echo);

    /// Ticks between two looks at the terminal, a tenth of a millisecond: it has no interrupt.
    const PATIENCE: u64 = 51_200;
    /// What is kept of a line.
    const LINE_BYTES: usize = 200;

    fn expired(_: &mut rt::Frame) {
        rt::set_decrementer(rt::NEVER);
    }

    /// What was typed, or waits for it.
    fn read(into: &mut [u8; rt::terminal::CHARACTERS_MAX]) -> usize {
        loop {
            let length = rt::read(into);
            if length > 0 {
                return length;
            }
            rt::set_decrementer(PATIENCE);
            rt::hypercall(Hypercall::Cede as u64, [0; 4]);
            rt::allow_interrupts(false);
        }
    }

    fn echo(_: rt::Partition) {
        rt::on_interrupt(Vector::Decrementer, expired);
        let (mut line, mut used) = ([0; LINE_BYTES], 0);
        let mut typed = [0; rt::terminal::CHARACTERS_MAX];
        rt::print(format_args!("echo> "));
        loop {
            let length = read(&mut typed);
            for byte in &typed[..length] {
                if !matches!(byte, b'\r' | b'\n') {
                    if used < LINE_BYTES {
                        line[used] = *byte;
                        used += 1;
                    }
                    continue;
                }
                if &line[..used] == b"exit" {
                    return;
                }
                rt::println!("said: {}", line[..used].escape_ascii());
                rt::print(format_args!("echo> "));
                used = 0;
            }
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("echo: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
