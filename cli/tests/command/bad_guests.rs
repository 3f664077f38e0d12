//! Guests that end badly beside others that do not, on both machines: what the console says of them.
//!
//! Needs the images (`cargo xtask images`) and QEMU (Debian's qemu-system-ppc).

use crate::support::{Folder, errors};

/// Beside the guest that ends badly.
const NEIGHBOUR: &str =
    "[[partition]]\nname = 'hello'\npayload = 'hello'\nmemory = '16 MiB'\nvcpus = 1\n";
const MACHINES: [&str; 2] = ["simulator", "qemu"];

/// Flat images, which begin big-endian, and what the console says of each.
#[test]
fn a_guest_that_dies_before_it_writes_is_told_of_by_one_line_and_ends_at_its_time_limit() {
    let cases: [(&str, &[u8], &str); 3] = [
        ("nothing", &[0; 4], "at 0000000000000000, before it wrote a character"),
        // `nop`, for the other endian.
        ("turned", &[0, 0, 0, 0x60], "at 0000000000000000, before it wrote a character"),
        // `sc`.
        (
            "unhandled",
            &[0x44, 0, 0, 2],
            "at 0000000000000c00, before it wrote a character: no handler for System Call, which it has from \
             0000000000000004",
        ),
    ];
    let folder = Folder::new();
    for (name, image, said) in cases {
        folder.write(name, image);
        let dies = format!(
            "[[partition]]\nname = '{name}'\npayload = '{name}'\nmemory = '16 MiB'\nvcpus = 1\n\
             time_limit_us = 50000\n"
        );
        folder.write("guests.toml", dies + NEIGHBOUR);
        for on in MACHINES {
            let output = folder.command(&format!("boot guests.toml --on {on}")).output().unwrap();
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(1), "{on}: {shown}");
            let told: Vec<_> = shown.lines().filter(|line| line.contains(": illegal: ")).collect();
            let [told] = told[..] else { panic!("{on}: {shown}") };
            let who = format!(
                "powervisor: illegal: partition {name}: vCPU 0 finds no instruction of this processor"
            );
            assert_eq!(told.trim_end(), format!("{who} {said}"), "{on}");
            let limit = format!("partition {name}: stopped: it used up its time limit");
            assert!(shown.contains(&limit), "{on}: {shown}");
            assert!(shown.contains("summary: partition hello: powered off"), "{on}: {shown}");
            assert!(errors(&output).contains(&format!("partition {name}: stopped")), "{on}");
        }
    }
}

/// Each has the image's bytes for itself: a second one that saw what the first has written would say so.
#[test]
fn two_guests_that_name_one_disk_have_a_copy_each_and_only_one_may_keep_it() {
    let partition = |name: &str, key: &str| {
        format!(
            "[[partition]]\nname = '{name}'\npayload = 'disk'\nmemory = '16 MiB'\nvcpus = 1\narguments = 'rounds=20'\n\
             disks = [{{ image = 'disk', writable = true{key} }}]\n"
        )
    };
    let folder = Folder::new();
    folder.write("disk", [0; 64 << 10]);
    folder.write("two.toml", partition("a", "") + &partition("b", ""));
    for on in MACHINES {
        let output = folder.command(&format!("boot two.toml --on {on}")).output().unwrap();
        assert!(output.status.success(), "{on}: {}", errors(&output));
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown.matches(" written, 0 words wrong").count(), 2, "{on}: {shown}");
    }
    let kept = ", write_back = 'disk'";
    folder.write("two.toml", partition("a", kept) + &partition("b", kept));
    let output = folder.command("boot two.toml").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let refused = "two.toml:14: a second disk is written to disk; give each its own file";
    assert!(errors(&output).contains(refused), "{}", errors(&output));
}
