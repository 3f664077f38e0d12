//! What `boot` is asked for: payloads, kernels, bundles and options.

use super::{assert_refused, folder};
use crate::support::{elf, errors};

#[test]
fn payloads() {
    let folder = folder();
    let good = elf(&[0x1_0000]);
    let with = |offset: usize, value: u8| {
        let mut file = good.clone();
        file[offset] = value;
        file
    };
    for (file, expected) in [
        (
            b"\x1F\x8B\x08\0".to_vec(),
            "a file that gzip compressed; decompress it first with `gzip -dc FILE > NEW`",
        ),
        (b"# A payload\n".to_vec(), "a text file; it must be an ELF file or a flat image"),
        (vec![], "the file is empty; it must be an ELF64 file for 64-bit Power or a flat image"),
        (with(4, 1), "a 32-bit ELF file; it must be ELF64 for 64-bit Power"),
        (with(18, 62), "an ELF file for x86-64; it must be for 64-bit Power"),
        (
            good[..good.len() - 1].to_vec(),
            "the ELF file is cut or damaged (segment 0 is not in the file); build or copy it again",
        ),
        (
            elf(&[0x1_0000, 0x1_0010]),
            "the segments at 0x10000 and 0x10010 overlap; each address may be loaded once",
        ),
        (
            elf(&[0x1000_0000]),
            "it needs memory up to 0x10000020 and 64 KiB above for the device tree, the partition has 256 MiB; give it at least 262272 KiB or link the payload lower",
        ),
    ] {
        folder.write("bad.elf", file);
        let mut command = folder.command("boot --payload bad.elf");
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &format!("bad.elf: {expected}"));
    }
    for (size, expected) in [
        ("0", "a partition needs memory; give it some, as in \"64 MiB\""),
        ("65537", "memory must be given in whole 64 KiB; use a multiple of \"64 KiB\""),
    ] {
        let mut command = folder.command(&format!("boot --payload p.elf --memory {size}"));
        assert_refused(&mut command, &format!("--memory: {expected}"));
    }
}

#[test]
fn kernels() {
    let folder = folder();
    folder.write("k", []);
    assert_refused(
        &mut folder.command("boot --kernel k"),
        "k: the kernel is empty or begins with a zero word; an ELF file or a flat image is needed",
    );
    for (file, expected) in [
        (
            &b"BZh91AY\0"[..],
            "a file that bzip2 compressed; decompress it first with `bzip2 -dc FILE > NEW`",
        ),
        (b"07070100000001", "a cpio archive; give it with --initrd, beside a kernel"),
        (b"[kernel]\n", "a text file; it must be an ELF file or a flat image"),
    ] {
        folder.write("k", file);
        assert_refused(&mut folder.command("boot --kernel k"), &format!("k: {expected}"));
    }
    let mut other = elf(&[0]);
    other[18] = 62;
    folder.write("k", other);
    let output = folder.command("boot --kernel k").output().unwrap();
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("powervisor: k: ") && errors.lines().count() == 1, "{errors}");
    assert!(errors.contains("PowerPC"), "{errors}");
}

#[test]
fn a_bundle_cut_in_half() {
    let folder = folder();
    assert!(folder.command("bundle good.toml --output whole").status().unwrap().success());
    let whole = std::fs::read(folder.path().join("whole")).unwrap();
    folder.write("half", &whole[..whole.len() / 2]);
    let expected = format!(
        "half: the bundle is cut: {} of {} bytes; write it again with `powervisor bundle`",
        whole.len() / 2,
        whole.len()
    );
    assert_refused(folder.command("boot half").env("POWERVISOR_IMAGES", "images"), &expected);
    assert_refused(&mut folder.command("boot --kernel p.elf --initrd half"), &expected);
}

#[test]
fn what_boot_is_asked_for() {
    let folder = folder();
    let log = "# powervisor console input 1\n{\"at_step\": 1, \"timebase\": 0, \"txt\": \"\"}\n";
    folder.write("log", log);
    folder.write("saved", "powervisor-sav\x00\x09");
    folder.write("cut", "powervisor-sav\x00\x01\x04");
    let on_qemu = "works on our machine only; leave out `--on qemu`";
    let mut cases: Vec<(String, String)> = [
        ("good.toml --console q", "--console: no partition is called `q`; did you mean `p`?"),
        (
            "--payload p.elf --console q",
            "--console: no partition is called `q`; known: payload",
        ),
        (
            "--payload p.elf --initrd empty",
            "empty: the file is empty; an initrd has at least one byte",
        ),
        (
            "--payload p.elf --memory 1MiB --initrd large",
            "large: it needs memory up to 0x120000 and 64 KiB above for the device tree, the partition has 1 MiB; give it at least 1216 KiB or link the payload lower",
        ),
        (
            "--payload p.elf --initrd none",
            "none: cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "--resume none",
            "none: cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "--resume good.toml",
            "good.toml: not a saved machine; write one with `powervisor boot --save`",
        ),
        (
            "--resume saved",
            "saved: a saved machine of format 9; this powervisor reads format 5: save it again with this one",
        ),
    ]
    .map(|(arguments, expected)| (arguments.to_owned(), expected.to_owned()))
    .into();
    for option in [
        "--save x",
        "--steps 1",
        "--until 0x4000",
        "--trace exits",
        "--timing",
        "--log-input x",
        "--replay-input log",
    ] {
        let name = option.split(' ').next().unwrap();
        cases.push((format!("good.toml --on qemu {option}"), format!("{name}: {on_qemu}")));
    }
    cases.push(("--resume cut --on qemu".to_owned(), format!("--resume: {on_qemu}")));
    for (arguments, expected) in cases {
        let mut command = folder.command(&format!("boot {arguments}"));
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
    }
    assert!(folder.command("bundle good.toml --output whole").status().unwrap().success());
    assert_refused(
        folder.command("boot whole --console p").env("POWERVISOR_IMAGES", "images"),
        "--console: a bundle says itself which partition the console is for; give `powervisor boot` the partition file, or write the bundle again with `console` in it",
    );
    // What goes wrong after the kernel was read needs one that firmware starts.
    folder.write("kernel", [0x38, 0x63, 0x00, 0x01, 0x4B, 0xFF, 0xFF, 0xFC]);
    for (arguments, expected) in [
        (
            "--replay-input log",
            "log:2: not a line of input: unknown field `txt`, expected one of `at_step`, `timebase`, `text`, `bytes` at line 1 column 35; a line is {\"at_step\": 0, \"timebase\": 0, \"text\": \"...\"}",
        ),
        ("--replay-input kernel", "kernel: the file is not text; write it with --log-input"),
        (
            "--trace exits --trace-file none/x",
            "none/x: cannot be written: No such file or directory (os error 2); it must be writable",
        ),
    ] {
        assert_refused(&mut folder.command(&format!("boot --kernel kernel {arguments}")), expected);
    }
    for (arguments, expected) in [
        (
            "--steps 9 --save none/x",
            "none/x: cannot be written: No such file or directory (os error 2); it must be writable",
        ),
        (
            "--steps 9 --log-input /dev/full",
            "/dev/full: not a file that can be replaced; name a file",
        ),
        (
            "--trace instructions --trace-file /dev/full",
            "/dev/full: cannot be written: No space left on device (os error 28); free some space and run again",
        ),
    ] {
        assert_refused(&mut folder.command(&format!("boot --kernel kernel {arguments}")), expected);
    }
}

#[test]
fn what_the_host_lacks() {
    let folder = folder();
    assert_refused(
        folder.command("boot good.toml").env("POWERVISOR_IMAGES", "nowhere"),
        "nowhere/hypervisor: no hypervisor image; build it with `make build`, and let POWERVISOR_IMAGES name its folder or unset it",
    );
    assert_refused(
        folder
            .command("boot good.toml --on qemu")
            .env("POWERVISOR_IMAGES", "images")
            .env("PATH", ""),
        "qemu-system-ppc64: not found; install Debian's package qemu-system-ppc, or let PATH lead to it",
    );
    assert_refused(
        &mut folder.command("bundle good.toml --output /dev/full"),
        "/dev/full: cannot be written: No space left on device (os error 28); free some space and run again",
    );
}
