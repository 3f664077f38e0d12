//! Partition files, and what a machine has room for.

use lab::images::GUESTS;

use super::{PARTITION, assert_files_refused, assert_refused, folder};
use crate::support::errors;

#[test]
fn partition_files() {
    let unreadable = format!(
        "bad.toml:3: the payload q.elf cannot be read: No such file or directory (os error 2); name a file or one of ours: {}",
        GUESTS.join(", ")
    );
    let unnamed =
        format!("bad.toml:3: no payload; name a file or one of ours: {}", GUESTS.join(", "));
    let cases = [
        ("[[partition]]", "[[partition]", "bad.toml:1: unclosed array table; expected `]`"),
        (
            "[[partition]]",
            "[[partitoin]]",
            "bad.toml:1: unknown key `partitoin`; did you mean `partition`?",
        ),
        (
            "payload",
            "image",
            "bad.toml:3: unknown key `image`; known: name, payload, initrd, memory, vcpus, arguments, translation, weight, time_limit_us, performance_monitor, superpages, resizable_table, dma_window, disks, features",
        ),
        ("vcpus = 1", "", "bad.toml:1: the key `vcpus` is missing; add a line `vcpus = ...`"),
        ("name = 'p'", "name = 7", "bad.toml:2: invalid type: integer `7`; expected a string"),
        ("vcpus = 1", "vcpus = -1", "bad.toml:5: -1 is out of range; give a number from 1 to 64"),
        ("vcpus = 1", "vcpus = 0", "bad.toml:5: a partition needs a vCPU; write `vcpus = 1`"),
        (
            "[[partition]]",
            "slice_us = 19\n[[partition]]",
            "bad.toml:1: 19 is out of range; give a number from 20 to 4294967295",
        ),
        (
            "[[partition]]",
            "policy = { one_partition_per_core = true, threads_per_core = 2 }\n[[partition]]",
            "bad.toml:1: with `one_partition_per_core` one thread of a core runs partitions; write 1, or leave this out",
        ),
        (
            "[[partition]]",
            "policy = { subcores = 18446744073709551618 }\n[[partition]]",
            "bad.toml:1: a number beyond those of 64 bits with a sign; write one from -9223372036854775808 to 9223372036854775807",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ntranslation = 'radix'\nsuperpages = true",
            "bad.toml:7: superpages are made in a hashed page table; write `translation = \"hash\"`",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ntranslation = 'radix'\nresizable_table = true",
            "bad.toml:7: it has no hashed page table to resize; write `translation = \"hash\"`",
        ),
        ("vcpus = 1", "vcpus = 65", "bad.toml:5: 65 is out of range; give a number from 1 to 64"),
        (
            "'1 MiB'",
            "'1 MB'",
            "bad.toml:4: invalid value: string \"1 MB\"; expected a whole number of KiB, MiB, GiB or TiB such as \"64 MiB\", or a number of bytes",
        ),
        ("'1 MiB'", "0", "bad.toml:4: a partition needs memory; give it some, as in \"64 MiB\""),
        (
            "'1 MiB'",
            "100000",
            "bad.toml:4: memory must be given in whole 64 KiB; use a multiple of \"64 KiB\"",
        ),
        (
            "'1 MiB'",
            "'64 KiB'",
            "bad.toml:4: p.elf: it needs memory up to 0x10020 and 64 KiB above for the device tree, the partition has 64 KiB; give it at least 192 KiB or link the payload lower",
        ),
        ("p.elf", "q.elf", &unreadable),
        ("p.elf", "", &unnamed),
        (
            "name = 'p'",
            "name = 'a b'",
            "bad.toml:2: `a b` cannot name a partition; use up to 31 letters, digits and `,._+-`, beginning with a letter",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ image = 'no.img' }]\n",
            "bad.toml:6: the disk no.img cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ image = 'empty' }]\n",
            "bad.toml:6: the disk empty has 0 bytes; a disk has whole blocks of 512, one at least",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ image = '' }]\n",
            "bad.toml:6: it names no file; for a blank disk write `size = \"1 MiB\"` instead",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 1025 }]\n",
            "bad.toml:6: a blank disk has 1025 bytes; a disk has whole blocks of 512, one at least",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = '2 GiB' }]\n",
            "bad.toml:6: blank disks have 128 MiB at most, all together; give them less",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ writable = true }]\n",
            "bad.toml:6: a disk has an image or a size; write `image = \"disk.img\"` or `size = \"1 MiB\"`",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, writeable = true }]\n",
            "bad.toml:6: unknown key `writeable`; did you mean `writable`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, write_back = 'x' }]\n",
            "bad.toml:6: a disk that is read-only stays as it is; write `writable = true`, or leave `write_back` out",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, writable = true, write_back = 'x' }, { size = 512, writable = true, write_back = 'x' }]\n",
            "bad.toml:6: a second disk is written to x; give each its own file",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, writable = true, write_back = 'p.elf' }]\n",
            "write_back: FOLDER/p.elf is a file that this run reads; name another one",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, writable = true, write_back = 'no/x' }]\n",
            "FOLDER/no/x: cannot be written: No such file or directory (os error 2); it must be writable",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512 }, { size = 512, adapter = 16 }]\n",
            "bad.toml:6: a partition has 16 adapters at most; write a number from 0 to 15",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, adapter = -1 }]\n",
            "bad.toml:6: a partition has 16 adapters at most; write a number from 0 to 15",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = 512, adapter = 2 }, { size = 512 }]\n",
            "bad.toml:6: adapter 1 has no disk; number adapters from 0, without a gap up to 2",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ndisks = [{ size = '128 MiB' }]\n",
            "the bundle: payloads and disks of the partitions have 131200 KiB together; 128 MiB fit: give them smaller ones",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\ntranslation = 'hashed'\n",
            "bad.toml:6: no translation is called `hashed`; did you mean `hash`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nmitigations = 'of'\n",
            "bad.toml:7: no policy for mitigations is called `of`; did you mean `off`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nmap = 'our'\n",
            "bad.toml:7: no policy for maps is called `our`; did you mean `ours`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nmap = 'direct'\n",
            "bad.toml:7: only an experiment has `map = \"direct\"`: it keeps the memory of partitions within reach; leave it out",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nprefetch = 'faithful'\n",
            "bad.toml:7: only an experiment has `prefetch = \"faithful\"`: its engine may overwrite any memory; leave it out",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nhash_calls = 'middle'\n",
            "bad.toml:7: only an experiment has `hash_calls = \"middle\"`: it makes calls slower; leave it out",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nhash_calls = 'fasd'\n",
            "bad.toml:7: no policy for calls of a hashed page table is called `fasd`; did you mean `fast`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nregisters = 'owed'\n",
            "bad.toml:7: no policy for registers is called `owed`; did you mean `owned`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nregisters = 'eager'\nwithout = ['amore']\n",
            "bad.toml:8: nothing to leave out is called `amore`; did you mean `amor`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nregisters = 'owned'\nwithout = ['amor']\n",
            "bad.toml:8: only `registers = \"eager\"` leaves something out; remove `without`",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[[partition]]\nname = 'p'\npayload = 'p.elf'\nmemory = '1 MiB'\nvcpus = 1\n",
            "bad.toml:7: a second partition is called `p`; give each its own name",
        ),
        (
            "[[partition]]",
            "console = 'q'\n[[partition]]",
            "bad.toml:1: no partition is called `q`; did you mean `p`?",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ninitrd = 'none'",
            "bad.toml:6: the initrd none cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ninitrd = 'empty'",
            "bad.toml:6: empty: the file is empty; an initrd has at least one byte",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ninitrd = 'large'",
            "bad.toml:4: large: it needs memory up to 0x120000 and 64 KiB above for the device tree, the partition has 1 MiB; give it at least 1216 KiB or link the payload lower",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[machine]\ndescription = 'power99'\n",
            "bad.toml:7: no machine is called `power99`; did you mean `power9`? A description of your own is named by its path, ending in .toml",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[machine]\ndescription = 'm.toml'\n",
            "m.toml: cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
    ];
    assert_files_refused("boot", &cases, PARTITION);
}

/// What the hypervisor would find no room for is refused before the machine boots, where the memory was asked for.
#[test]
fn partitions_larger_than_the_machine() {
    let refused = |size: &str, machine: &str, left: &str| {
        format!(
            "{size} do not fit: the machine has {machine}, of which hypervisor, firmware{left} in one piece; \
            give the partition no more than that, or the machine more memory"
        )
    };
    let second = "[[partition]]\nname = 'q'\npayload = 'p.elf'\nmemory = '1 GiB'\nvcpus = 1\n";
    let third = second.replace("'q'", "'r'");
    for (text, expected) in [
        (
            PARTITION.replace("1 MiB", "1 TiB"),
            format!("bad.toml:4: {}", refused("1 TiB", "2 GiB", " leave 1250 MiB")),
        ),
        (
            format!("{PARTITION}{second}{third}"),
            format!(
                "bad.toml:14: {}",
                refused("1 GiB", "2 GiB", " and the partitions before it leave 574 MiB")
            ),
        ),
        (
            format!("[machine]\nmemory = '1 GiB'\n{second}"),
            format!("bad.toml:6: {}", refused("1 GiB", "1 GiB", " leave 576 MiB")),
        ),
    ] {
        let folder = folder();
        folder.write("bad.toml", text);
        for command in ["boot", "compare"] {
            let mut command = folder.command(&format!("{command} bad.toml"));
            assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
        }
    }
    let folder = folder();
    let mut command = folder.command("boot --payload p.elf --memory 3GiB");
    let expected = format!("--memory: {}", refused("3 GiB", "2 GiB", " leave 1250 MiB"));
    assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
}

/// The hypervisor would refuse it, after it was started.
#[test]
fn arguments_longer_than_a_manifest() {
    let folder = folder();
    let long = "x".repeat(2 << 20);
    folder.write("bad.toml", format!("{PARTITION}arguments = '{long}'\n"));
    let expected = "bad.toml:6: `arguments` of 2097152 bytes make a manifest of 2097528, which may have 1 MiB; give \
        the partitions shorter arguments, or fewer partitions";
    for command in ["boot bad.toml", "compare bad.toml", "bundle bad.toml --output b"] {
        assert_refused(folder.command(command).env("POWERVISOR_IMAGES", "images"), expected);
    }
    // A bundle that something else has written.
    let mut tree = vec![0; 0x10_0004];
    folder.command("bundle good.toml --output b").status().unwrap();
    let bundle = std::fs::read(folder.path().join("b")).unwrap();
    let length = u32::from_be_bytes(*bundle[4..].first_chunk().unwrap()) as usize;
    tree[..length].copy_from_slice(&bundle[..length]);
    tree[4..8].copy_from_slice(&0x10_0004_u32.to_be_bytes());
    folder.write("b", tree);
    assert_refused(
        folder.command("boot b").env("POWERVISOR_IMAGES", "images"),
        "b: the bundle's manifest has 1048580 bytes, which may have 1 MiB; write it again with `powervisor bundle`",
    );
}

#[test]
fn topologies() {
    let folder = folder();
    let boot = |topology: &str| {
        let mut command = folder.command(&format!("boot good.toml --topology {topology}"));
        command.env("POWERVISOR_IMAGES", "images");
        command
    };
    for threads in [3, 9] {
        assert_refused(
            &mut boot(&format!("1x2x{threads}")),
            &format!(
                "--topology: threads_per_core = {threads} is not what a core of POWER9 has; it must be one of 1, 2, 4"
            ),
        );
    }
    let output = boot("4").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("`4` is not a topology; it must be chips x cores x threads"));
}
