//! The program in docs/payload.md, built and run as the document says.
//!
//! Needs the images and `powerpc64le-linux-gnu-as` (Debian's binutils-powerpc64le-linux-gnu).

use std::process::{Command, Stdio};

use crate::support::{Folder, errors, project};

#[test]
fn the_smallest_payload_of_the_document_runs_on_both_machines() {
    let folder = Folder::new();
    let document = std::fs::read_to_string(project("docs/payload.md")).unwrap();
    let (_, behind) = document.split_once("```asm\n").unwrap();
    folder.write("start.S", behind.split_once("```").unwrap().0);
    let commands = behind.lines().filter_map(|line| line.strip_prefix("$ powerpc64le-linux-gnu-"));
    let mut built = 0;
    for command in commands {
        let mut words = command.split(' ');
        let program = format!("powerpc64le-linux-gnu-{}", words.next().unwrap());
        let status = Command::new(program).args(words).current_dir(folder.path()).status();
        assert!(status.expect("binutils-powerpc64le-linux-gnu is installed").success());
        built += 1;
    }
    assert_eq!(built, 2);
    for on in ["simulator", "qemu"] {
        let arguments = format!("boot --payload start.bin --on {on}");
        let output = folder.command(&arguments).stdin(Stdio::null()).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        assert_eq!(output.status.code(), Some(0), "{on}: {}", errors(&output));
        assert!(shown.contains("\nhello\n"), "{on}: {shown}");
    }
    let timed = "boot --payload start.bin --timing --region 0x4001 --explain";
    let output = folder.command(timed).stdin(Stdio::null()).output().unwrap();
    let errors = errors(&output);
    assert!(errors.contains(": entered 1 times, left 1 times, "), "{errors}");
}
