//! Disks that are written to files: when the machine is switched off, whole, and not otherwise.
//!
//! Needs the images (`cargo xtask images`).

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{Folder, errors};

/// A partition that writes to its disk, whose blocks are zero at first, and reads it back.
fn partition(disk: &str) -> String {
    format!(
        "[[partition]]\nname = 'disk'\npayload = 'disk'\nmemory = '16 MiB'\nvcpus = 1\narguments = 'rounds=20'\n\
         disks = [{{ {disk}, writable = true, write_back = 'out' }}]\n"
    )
}

/// Where the disk goes, as messages say it.
fn out(folder: &Folder) -> String {
    folder.path().canonicalize().unwrap().join("out").display().to_string()
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
    let said = format!("; disk written to {}", out(&folder));
    assert!(errors(&output).contains(&said), "{}", errors(&output));
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
    let said = format!("; {} is not written, as the machine was not switched off", out(&folder));
    assert!(errors(&output).contains(&said));
    assert!(!folder.path().join("out").exists());
    // The saved machine knows where its disk goes, whatever folder it goes on in.
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let output =
        folder.command("boot --resume ../machine").current_dir(&elsewhere).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(!is_blank(&std::fs::read(folder.path().join("out")).unwrap()));
}

#[test]
fn qemu_leaves_the_same_disk() {
    let folder = Folder::new();
    folder.write("disk.toml", partition("size = '64 KiB'"));
    let left = ["", " --on qemu"].map(|machine| {
        let output = folder.command(&format!("boot disk.toml{machine}")).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        let said = format!("; disk written to {}", out(&folder));
        assert!(errors(&output).contains(&said), "{}", errors(&output));
        let left = std::fs::read(folder.path().join("out")).unwrap();
        std::fs::remove_file(folder.path().join("out")).unwrap();
        left
    });
    assert!(!is_blank(&left[0]));
    assert!(left[0] == left[1], "the disks differ");
}

#[test]
fn a_disk_is_not_written_over_what_the_run_reads() {
    let folder = Folder::new();
    folder.write("other", [0; 512]);
    folder.write(
        "two.toml",
        partition("size = '64 KiB'").replace("disks = [", "disks = [{ image = 'other' }, "),
    );
    let text = std::fs::read_to_string(folder.path().join("two.toml")).unwrap();
    folder.write("two.toml", text.replace("'out'", "'other'"));
    let expected = format!(
        "powervisor: write_back: {} is a file that this run reads; name another one\n",
        out(&folder).replace("out", "other")
    );
    for arguments in ["boot two.toml", "boot two.toml --on qemu"] {
        let output = folder.command(arguments).output().unwrap();
        assert_eq!((errors(&output), output.status.code()), (expected.clone(), Some(2)));
    }
}

#[test]
fn a_link_stays_one_and_a_file_keeps_its_mode() {
    let folder = Folder::new();
    let real = folder.write("real", [0; 64 << 10]);
    std::fs::set_permissions(&real, Permissions::from_mode(0o600)).unwrap();
    symlink(&real, folder.path().join("out")).unwrap();
    folder.write("disk.toml", partition("image = 'out'"));
    let output = folder.command("boot disk.toml").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(folder.path().join("out").is_symlink());
    assert!(!is_blank(&std::fs::read(&real).unwrap()));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn files_that_cannot_be_written_to_are_refused_before_the_run() {
    let folder = Folder::new();
    let text = partition("size = '64 KiB'");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let second =
        text.replace("'disk'\npayload", "'other'\npayload").replace("'out'", "'sub/../out'");
    let two = format!("{text}{second}");
    folder.write("out", []);
    for (file, arguments, expected) in [
        (two.as_str(), "", "a second disk is written to sub/../out; give each its own file"),
        (&text.replace("'out'", "''"), "", "it names no file; leave `write_back` out"),
        (
            &text,
            "--trace exits --trace-file sub/../out",
            "is what a disk is written to; name another one",
        ),
        (&text, "--steps 9 --save out", "is what a disk is written to; name another one"),
        (
            &text.replace("'out'", "'sub/boot.json'"),
            "--timing --out sub",
            "--out: sub/boot.json is what a disk is written to; name another one",
        ),
        (
            &text.replace("64 KiB", "129 MiB"),
            "",
            "blank disks have 128 MiB at most, all together; give them less",
        ),
    ] {
        folder.write("disk.toml", file);
        let output = folder.command(format!("boot disk.toml {arguments}").trim()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(expected), "{}", errors(&output));
    }
    assert!(std::fs::read(folder.path().join("out")).unwrap().is_empty());
    std::fs::set_permissions(folder.path().join("out"), Permissions::from_mode(0o444)).unwrap();
    folder.write("disk.toml", text);
    let output = folder.command("boot disk.toml").output().unwrap();
    assert!(errors(&output).contains("a file that is read-only"), "{}", errors(&output));
}

#[test]
fn what_cannot_be_written_in_the_end_is_said_before_the_run() {
    let folder = Folder::new();
    let file = partition("size = '64 KiB'");
    let disk = |out: &str| format!("{{ size = '64 KiB', writable = true, write_back = '{out}' }}");
    let (head, _) = file.split_once("disks = ").unwrap();
    let refused = |disks: &[String], expected: &str| {
        folder.write("disk.toml", format!("{head}disks = [{}]\n", disks.join(", ")));
        let output = folder.command("boot disk.toml").output().unwrap();
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected) && !said.contains("powered off"), "{said}");
    };
    refused(&[disk(&"x".repeat(256))], "cannot be written: File name too long");
    // Two names of one file.
    folder.write("first", "");
    std::fs::hard_link(folder.path().join("first"), folder.path().join("second")).unwrap();
    let disks = [disk("first"), disk("second")];
    refused(&disks, "a second disk is written to second; give each its own file");
}

#[test]
fn a_disk_that_cannot_be_written_takes_no_other_with_it() {
    let folder = Folder::new();
    let disk = |size, out| format!("{{ size = '{size}', writable = true, write_back = '{out}' }}");
    let disks = [disk("64 KiB", "first"), disk("4 MiB", "second"), disk("64 KiB", "third")];
    let file = partition("size = '64 KiB'");
    let (head, _) = file.split_once("disks = ").unwrap();
    folder.write("disk.toml", format!("{head}disks = [{}]\n", disks.join(", ")));
    let command = folder.command_to_signal("boot");
    let mut limited = std::process::Command::new("sh");
    // In units of 512 bytes.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" boot disk.toml"]);
    limited.arg(command.get_program()).current_dir(folder.path());
    for (key, value) in command.get_envs() {
        limited.env(key, value.unwrap_or_default());
    }
    let output = limited.output().unwrap();
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("second: cannot be written") && said.contains("disk written to"),
        "{said}"
    );
    let exists = ["first", "second", "third"].map(|name| folder.path().join(name).exists());
    assert_eq!(exists, [true, false, true], "{said}");
}
