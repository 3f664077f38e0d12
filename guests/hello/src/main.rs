//! hello: prints what it was given, touches all of its memory, and switches itself off.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    rt::main!(hello);

    const MIB: usize = 1 << 20;

    fn hello(partition: rt::Partition) {
        rt::println!("hello from a partition");
        rt::println!("hello: bootargs \"{}\"", partition.bootargs());
        rt::println!("hello: {} KiB of memory", partition.memory_bytes() >> 10);
        if let Some(file) = partition.initrd() {
            let sum = file
                .iter()
                .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
            rt::println!("hello: an initrd of {} bytes, checksum {sum:08x}", file.len());
        }
        let (mut zero, mut probed) = (0, 0);
        for address in partition.free_memory().step_by(MIB) {
            zero += u32::from(partition.probe(address) == Some(0));
            probed += 1;
        }
        rt::println!(
            "hello: {probed} words of untouched memory probed, {zero} were zero and kept a value"
        );
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("hello: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
