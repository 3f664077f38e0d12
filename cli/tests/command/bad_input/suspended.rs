//! What `boot --suspend` and `boot --from` are asked for.

use super::{assert_refused, folder};
use crate::support::errors;

const FILE: &str =
    "[[partition]]\nname = \"smp\"\npayload = \"smp\"\nmemory = \"16 MiB\"\nvcpus = 4\n";

#[test]
fn options_of_a_suspension() {
    let folder = folder();
    folder.write("f.toml", FILE);
    let refused = |arguments: &str, expected: &str| {
        assert_refused(&mut folder.command(&format!("boot f.toml {arguments}")), expected);
    };
    refused(
        "--suspend other --at 5us --to x",
        "--suspend: no partition is called `other`; known: smp",
    );
    folder.write("f.toml", FILE.replace("vcpus", "dma_window = \"64 KiB\"\nvcpus"));
    refused(
        "--suspend smp --at 5us --to x",
        "--suspend: partition smp has devices, whose state no image holds; suspend another one",
    );
    folder.write("f.toml", FILE);
    refused(
        "--suspend smp --at 5us --to f.toml",
        "--to: f.toml is a file that this run reads; name another one",
    );
    for (arguments, expected) in [
        ("--suspend smp", "--at <TIME>"),
        ("--at 5us --to x", "--suspend <NAME>"),
        ("--suspend smp --at 5 --to x", "`5` is not a moment"),
    ] {
        let output = folder.command(&format!("boot f.toml {arguments}")).output().unwrap();
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

/// Of these, one has no partition, and the others have none of a file.
#[test]
fn a_partition_of_no_file() {
    let folder = folder();
    for (option, more) in [("--suspend", " smp --at 5us --to x"), ("--from", " p.elf")] {
        for what in ["--kernel p.elf", "--payload p.elf", "--resume p.elf"] {
            assert_refused(
                &mut folder.command(&format!("boot {what} {option}{more}")),
                &format!(
                    "{option}: it is for a partition of a partition file; name such a file, or keep a whole machine \
                     with --save and go on with it with --resume"
                ),
            );
        }
    }
}

/// An image is cut in half, of another version, no image, and of another partition.
#[test]
fn suspended_partitions() {
    let folder = folder();
    folder.write("f.toml", FILE);
    let suspend = "boot f.toml --suspend smp --at 60us --to smp.partition";
    assert!(folder.command(suspend).output().unwrap().status.success());
    let whole = std::fs::read(folder.path().join("smp.partition")).unwrap();
    let refused = |file: &str, expected: &str| {
        let mut command = folder.command(&format!("boot {file} --from bad.partition"));
        assert_refused(&mut command, &format!("bad.partition: {expected}"));
    };
    folder.write("bad.partition", &whole[..whole.len() / 2]);
    refused(
        "f.toml",
        "the suspended partition is cut or damaged (its digest is another); save it again with --suspend",
    );
    let mut other = whole.clone();
    other[15] = 9;
    folder.write("bad.partition", &other);
    refused(
        "f.toml",
        "a suspended partition of format 9; this powervisor reads format 1: save it again with this one",
    );
    folder.write("bad.partition", FILE);
    refused("f.toml", "not a suspended partition; write one with `powervisor boot --suspend`");
    folder.write("bad.partition", &whole);
    folder.write("other.toml", FILE.replace("\"smp\"\npayload", "\"other\"\npayload"));
    refused("other.toml", "no partition is called `smp`; known: other");
    folder.write("more.toml", FILE.replace("vcpus = 4", "vcpus = 5"));
    refused(
        "more.toml",
        "partition smp was suspended with memory = \"16 MiB\", vcpus = 4, translation = \"radix\"; the partition file \
         gives it \"16 MiB\", 5, \"radix\"",
    );
    let mut command = folder.command("boot f.toml --from smp.partition --machine power8");
    let output = command.output().unwrap();
    let expected = "its image: its processor is POWER9, and that of the partition here POWER8";
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains(expected), "{}", errors(&output));
    // It was only read, and is as good as before.
    for _ in 0..2 {
        let output = folder.command("boot f.toml --from smp.partition").output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("smp: 4 vCPUs, sum 4000, 40 interrupts passed"), "{said}");
    }
    assert_eq!(std::fs::read(folder.path().join("smp.partition")).unwrap(), whole);
    let late = "boot f.toml --suspend smp --at 1s --to late";
    let output = folder.command(late).output().unwrap();
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("partition smp ended before it was to be suspended"), "{said}");
    assert!(!folder.path().join("late").exists());
}
