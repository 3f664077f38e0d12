//! Disks that are written to files: when the machine is switched off, whole, and not otherwise.
//!
//! Needs the images (`cargo xtask images`).

mod support;

use support::{Folder, errors};

/// A partition that writes to its disk, whose blocks are zero at first, and reads it back.
fn partition(disk: &str) -> String {
    format!(
        "[[partition]]\nname = 'disk'\npayload = 'disk'\nmemory = '16 MiB'\nvcpus = 1\narguments = 'rounds=20'\n\
         disks = [{{ {disk}, writable = true, write_back = 'out' }}]\n"
    )
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

#[test]
fn a_disk_is_written_when_the_machine_is_switched_off_and_read_again() {
    let folder = Folder::new();
    folder.write("first.toml", partition("size = '64 KiB'"));
    let output = folder.command("boot first.toml").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("; disk written to out"), "{}", errors(&output));
    let written = std::fs::read(folder.path().join("out")).unwrap();
    assert_eq!(written.len(), 64 << 10);
    assert!(!is_blank(&written));

    // What is written replaces the image that it came from; the payload finds what it does not expect there.
    let second = partition("image = 'out'").replace("rounds=20", "rounds=20 seed=2");
    folder.write("second.toml", second);
    let output = folder.command("boot second.toml").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains(" words wrong") && !shown.contains(", 0 words wrong"), "{shown}");
    assert!(std::fs::read(folder.path().join("out")).unwrap() != written);
}

#[test]
fn a_run_that_does_not_end_writes_no_disk_and_says_so() {
    let folder = Folder::new();
    folder.write("disk.toml", partition("size = '64 KiB'"));
    let output = folder.command("boot disk.toml --steps 3000000 --save machine").output().unwrap();
    assert!(errors(&output).contains("; out is not written, as the machine was not switched off"));
    assert!(!folder.path().join("out").exists());
    // The saved machine knows where its disk goes.
    let output = folder.command("boot --resume machine").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(!is_blank(&std::fs::read(folder.path().join("out")).unwrap()));
}

#[test]
fn a_disk_is_not_written_over_what_the_run_reads_or_on_qemu() {
    let folder = Folder::new();
    folder.write("other", [0; 512]);
    folder.write(
        "two.toml",
        partition("size = '64 KiB'").replace("disks = [", "disks = [{ image = 'other' }, "),
    );
    let text = std::fs::read_to_string(folder.path().join("two.toml")).unwrap();
    folder.write("two.toml", text.replace("'out'", "'other'"));
    let output = folder.command("boot two.toml").output().unwrap();
    assert_eq!(
        errors(&output),
        "powervisor: write_back: other is a file that this run reads; name another one\n"
    );
    folder.write("qemu.toml", partition("size = '64 KiB'"));
    let output = folder.command("boot qemu.toml --on qemu").output().unwrap();
    let text = "powervisor: out: a disk is written to it on our machine only; leave `write_back` or `--on qemu` out\n";
    assert_eq!((errors(&output).as_str(), output.status.code()), (text, Some(2)));
}
