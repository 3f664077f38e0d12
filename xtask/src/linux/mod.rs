//! `cargo xtask linux`: kernels and a shell that none of us wrote, for our machine.
//!
//! Debian's package client fetches and checks them, with its own state in target/linux: the system's
//! architecture and its lists stay as they are. Nothing of them is committed.

mod boot;
mod cpio;
mod crowd;
mod guest;
mod idle;
mod initramfs;
mod kexec;
mod kvm;
mod nested;
mod packages;
mod recipe;
mod source;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::outcome::Outcome;
use crate::run::build;
use crate::workspace::Workspace;
use boot::{COMMANDS, TORTURE, Trial};
use initramfs::Root;
use packages::Client;

/// The shell of the initramfs, and what a C program needs to become one of its programs.
const USER_PACKAGES: [&str; 3] = ["busybox-static", "libc6-dev", "linux-libc-dev"];
/// The programs that the torture set runs, and the libraries that they need: an interpreter, a library of ciphers, a
/// database, and a compiler with its assembler and linker.
const TORTURE_PACKAGES: [&str; 26] = [
    "python3.11-minimal",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "openssl",
    "sqlite3",
    "cpp-12",
    "binutils-powerpc64le-linux-gnu",
    "libbinutils",
    "libbz2-1.0",
    "libc6",
    "libctf0",
    "libctf-nobfd0",
    "libexpat1",
    "libgcc-s1",
    "libgmp10",
    "libisl23",
    "libjansson4",
    "liblzma5",
    "libmpc3",
    "libmpfr6",
    "libreadline8",
    "libsqlite3-0",
    "libssl3",
    "libtinfo6",
    "libzstd1",
    "zlib1g",
];
/// The suite whose shell and library they are.
const USER_SUITE: &str = "bookworm";
/// Topologies with 1, 8 and 32 threads.
const TOPOLOGIES: [&str; 3] = ["1x1x1", "1x2x4", "2x4x4"];
/// Topologies of a POWER8 with 1, 8 and 16 threads.
const POWER8_TOPOLOGIES: [&str; 3] = ["1x1x1", "1x1x8", "1x2x8"];
/// The machines, by the names of their descriptions.
const POWER9: &str = "power9";
const POWER8: &str = "power8";

/// A kernel of Debian's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Kernel {
    /// Debian 12's, with pages of 64K.
    #[value(name = "6.1")]
    Bookworm,
    /// Debian 13's, with pages of 4K.
    #[value(name = "6.12")]
    Trixie,
    /// Debian 13's, with pages of 64K.
    #[value(name = "6.12-64k")]
    TrixieLargePages,
}

impl Kernel {
    const ALL: [Self; 3] = [Self::Bookworm, Self::Trixie, Self::TrixieLargePages];

    /// Its suite, and the package that depends on the newest of its kind.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Bookworm => ("bookworm", "linux-image-powerpc64le"),
            Self::Trixie => ("trixie", "linux-image-powerpc64le"),
            Self::TrixieLargePages => ("trixie", "linux-image-powerpc64le-64k"),
        }
    }
}

/// What to do with them.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// Boot the kernel on our machine and on QEMU, type a few commands into each, and compare the answers.
    #[arg(long)]
    boot: bool,
    /// Run the torture set instead of a few commands: busybox, a C program, and Debian's python3, openssl, sqlite3 and
    /// C compiler. A boot that takes longer than half an hour fails.
    #[arg(long, requires = "boot")]
    torture: bool,
    /// Boot with the hashed page table (`disable_radix`).
    #[arg(long, requires = "boot")]
    hash: bool,
    /// On the machine of this name: power9 or power8.
    #[arg(long, requires = "boot", default_value = "power9")]
    machine: String,
    /// Boot in timing mode.
    #[arg(long, requires = "boot")]
    timing: bool,
    /// Boot Debian 12's kernel as a guest of the hypervisor, with each translation, on our machine and on QEMU: from a
    /// virtual disk, several side by side, and as `examples/linux-guest.toml` has it; count what that costs.
    #[arg(long, conflicts_with_all = ["boot", "kernel"])]
    guest: bool,
    /// Make Debian 12's kernel and its KVM HV into images for `powervisor run kvm-null-hypercall` and
    /// `kvm-hash-hypercalls`, and let guests of KVM's make their calls on our machine and on QEMU. Make those for
    /// `powervisor run kvm-wakeup-timer` and its kin, with Debian's QEMU and a guest that is idle. Then let that QEMU
    /// boot Linux as a guest of KVM's on both.
    #[arg(long, conflicts_with_all = ["boot", "kernel", "guest"])]
    kvm: bool,
    /// Compile Debian's source of that kernel as Linux's powernv_defconfig has it, with transactions, make it and its
    /// KVM HV into images for `powervisor run kvm-facilities`, and let guests of it make their calls on our machine and
    /// on QEMU. It takes some 15 minutes the first time.
    #[arg(long, conflicts_with_all = ["boot", "kernel", "guest", "kvm"])]
    kvm_powernv: bool,
    /// Boot Debian 12's kernel on our machine and on QEMU, as POWER9 and as POWER8, and let Debian's kexec-tools start
    /// another kernel in a guest of each translation, and the hypervisor on the bare machine. It takes some 12 minutes.
    #[arg(long, conflicts_with_all = ["boot", "kernel", "guest", "kvm", "kvm_powernv", "topology"])]
    kexec: bool,
    /// Do everything with one kernel that the nightly run does with all: ten minutes to two hours.
    #[arg(long, conflicts_with_all = ["boot", "guest", "kvm", "kvm_powernv", "kexec", "topology"])]
    everything: bool,
    /// Use this kernel.
    #[arg(long, value_enum, default_value = "6.1")]
    kernel: Kernel,
    /// Boot with this many chips, cores per chip and threads per core, such as 1x2x4; without this boot with
    /// one, eight and 32 threads in turn.
    #[arg(long, value_name = "CHIPSxCORESxTHREADS")]
    topology: Option<String>,
}

/// What Debian has: where a kernel is, and what programs are made of.
struct Packages {
    image: PathBuf,
    user: PathBuf,
}

impl Packages {
    /// The folder with the kernel's modules.
    fn modules(&self) -> Result<PathBuf> {
        Ok(self.image.ancestors().nth(2).context("a kernel's folder")?.join(packages::MODULES))
    }

    /// The kernel's KVM HV.
    fn kvm(&self) -> Result<Vec<PathBuf>> {
        let folder = self.modules()?;
        Ok(packages::KVM_MODULES.map(|name| folder.join(format!("{name}.ko"))).into())
    }

    /// Where busybox is.
    fn shell(&self) -> Result<PathBuf> {
        let places = ["bin/busybox", "usr/bin/busybox"].map(|place| self.user.join(place));
        places.into_iter().find(|place| place.is_file()).context("the package has no busybox")
    }
}

/// Where a kernel and the initramfs are.
struct Fetched {
    image: PathBuf,
    initramfs: PathBuf,
}

/// Fetches kernel and shell, makes an initramfs of the shell, and boots them if asked to.
pub(crate) fn linux(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if arguments.guest {
        let packages = packages(workspace, Kernel::Bookworm)?;
        build(workspace)?;
        println!("{}", guest::boot(workspace, &packages, &guest::all())?);
        println!("{}", crowd::boot(workspace, &packages)?);
        let fetched = initramfs(workspace, packages)?;
        println!("{}", recipe::boot(workspace)?);
        println!("{}", recipe::cost(workspace, &fetched)?);
        return Ok(());
    }
    if arguments.everything {
        let packages = packages(workspace, arguments.kernel)?;
        everything(workspace, arguments.kernel, packages)?;
        return Ok(());
    }
    if arguments.kexec {
        let packages = packages(workspace, Kernel::Bookworm)?;
        build(workspace)?;
        println!("{}", kexec::boot(workspace, &packages)?);
        return Ok(());
    }
    if arguments.kvm {
        let packages = packages(workspace, Kernel::Bookworm)?;
        build(workspace)?;
        println!("{}", kvm::make(workspace, &packages)?);
        println!("{}", idle::make(workspace, &packages)?);
        println!("{}", nested::boot(workspace, &packages)?);
        return Ok(());
    }
    if arguments.kvm_powernv {
        let packages = packages(workspace, Kernel::Bookworm)?;
        build(workspace)?;
        println!("{}", kvm::make_compiled(workspace, &packages)?);
        return Ok(());
    }
    let packages = packages(workspace, arguments.kernel)?;
    let fetched = if arguments.torture {
        initramfs_of_torture(workspace, &packages)?
    } else {
        initramfs(workspace, packages)?
    };
    if !arguments.boot {
        println!("target/release/powervisor boot --kernel {} \\", fetched.image.display());
        println!("    --initrd {} --append console=hvc0", fetched.initramfs.display());
        return Ok(());
    }
    build(workspace)?;
    let commands = if arguments.torture { &TORTURE[..] } else { &COMMANDS[..] };
    let topologies = match &arguments.topology {
        Some(topology) => vec![topology.as_str()],
        None if arguments.machine == POWER8 => POWER8_TOPOLOGIES.to_vec(),
        None => TOPOLOGIES.to_vec(),
    };
    let is_timed = arguments.timing;
    let trials = topologies.into_iter().map(|topology| Trial {
        topology,
        is_timed,
        is_hashed: arguments.hash,
        machine: &arguments.machine,
        commands,
    });
    println!("{}", boot::boot(workspace, &fetched, &trials.collect::<Vec<_>>())?);
    Ok(())
}

/// A boot to the shell and power-off, bare and as a guest, as `make test` makes it, of the command that the tests have
/// built; skipped where the packages cannot be reached.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let workspace = &workspace.of_tests();
    let trial = Trial {
        topology: TOPOLOGIES[0],
        is_timed: false,
        is_hashed: false,
        machine: POWER9,
        commands: &COMMANDS,
    };
    match packages(workspace, Kernel::Bookworm) {
        Err(error) => eprintln!("\nLINUX WAS NOT BOOTED, there is no kernel: {error:#}\n"),
        Ok(packages) => {
            println!("Linux: {}", guest::boot(workspace, &packages, &guest::FEW)?);
            let fetched = initramfs(workspace, packages)?;
            println!("Linux: {}", boot::boot(workspace, &fetched, &[trial])?);
        }
    }
    Ok(())
}

/// As a step of the nightly run: everything with every kernel; skipped where no kernel's packages can be reached. One
/// that cannot is named.
pub(crate) fn nightly(workspace: &Workspace) -> Result<Outcome> {
    let (mut figures, mut missing) = (Vec::new(), Vec::new());
    for kernel in Kernel::ALL {
        match packages(workspace, kernel) {
            Ok(packages) => figures.extend(everything(workspace, kernel, packages)?),
            // Another kernel may be there, or has been.
            Err(error) => missing.push(format!("{kernel:?} NOT RUN, it is not there: {error:#}")),
        }
    }
    if figures.is_empty() {
        return Ok(Outcome::Skipped(missing.join("; ")));
    }
    Ok(Outcome::Passed([figures, missing].concat().join("; ")))
}

/// Everything with one kernel: as a guest, and bare with one, eight and 32 threads, the torture set, and timing mode;
/// with Debian 12's disks, crowds, KVM and kexec too. What each took.
fn everything(workspace: &Workspace, kernel: Kernel, packages: Packages) -> Result<Vec<String>> {
    let mut figures = Vec::new();
    let mut took = |figure: String| {
        println!("{figure}");
        figures.push(figure);
    };
    build(workspace)?;
    if kernel == Kernel::Bookworm {
        took(guest::boot(workspace, &packages, &guest::all())?);
        took(crowd::boot(workspace, &packages)?);
        took(kexec::boot(workspace, &packages)?);
        took(kvm::make(workspace, &packages)?);
        took(kvm::make_compiled(workspace, &packages)?);
        took(idle::make(workspace, &packages)?);
        took(nested::boot(workspace, &packages)?);
    }
    let tortured = initramfs_of_torture(workspace, &packages)?;
    let fetched = initramfs(workspace, packages)?;
    took(recipe::boot(workspace)?);
    took(recipe::cost(workspace, &fetched)?);
    let trial = |topology| Trial {
        topology,
        is_timed: false,
        is_hashed: false,
        machine: POWER9,
        commands: &COMMANDS,
    };
    let timed = Trial { is_timed: true, ..trial(TOPOLOGIES[1]) };
    let trials: Vec<_> = TOPOLOGIES.into_iter().map(trial).chain([timed]).collect();
    took(boot::boot(workspace, &fetched, &trials)?);
    // It takes minutes a boot: the kernels differ in their own code, which one thread runs too.
    let topologies = if kernel == Kernel::Bookworm { &TOPOLOGIES[..] } else { &TOPOLOGIES[..1] };
    let torture = |topology: &&'static str| Trial { commands: &TORTURE, ..trial(topology) };
    let torture: Vec<_> = topologies.iter().map(torture).collect();
    took(boot::boot(workspace, &tortured, &torture)?);
    let power8 = POWER8_TOPOLOGIES.map(|topology| Trial { machine: POWER8, ..trial(topology) });
    took(boot::boot(workspace, &fetched, &power8)?);
    Ok(figures)
}

/// Makes the images of KVM that are not there, for figures of them; those of the compiled one where it is needed.
pub(crate) fn make_rivals(workspace: &Workspace, needs_compiled: bool) -> Result<()> {
    let (has_calls, has_states) = (kvm::is_made(workspace), idle::is_made(workspace));
    let is_compiled = !needs_compiled || kvm::is_compiled(workspace);
    if has_calls && has_states && is_compiled {
        return Ok(());
    }
    let packages = packages(workspace, Kernel::Bookworm)?;
    if !has_calls {
        println!("{}", kvm::make(workspace, &packages)?);
    }
    if !has_states {
        println!("{}", idle::make(workspace, &packages)?);
    }
    if !is_compiled {
        println!("{}", kvm::make_compiled(workspace, &packages)?);
    }
    Ok(())
}

/// Fetches `kernel`, the shell and what its programs are made of.
fn packages(workspace: &Workspace, kernel: Kernel) -> Result<Packages> {
    let folder = workspace.target.join("linux");
    let (suite, package) = kernel.place();
    let client = Client::new(&folder, suite)?;
    let kernels = client.kernels(package)?;
    let (package, files) = client.fetch_kernel(&kernels)?;
    let version = package.trim_start_matches("linux-image-");
    let image = files.join("boot").join(format!("vmlinux-{version}"));
    let user = Client::new(&folder, USER_SUITE)?.fetch("user", &USER_PACKAGES)?;
    Ok(Packages { image, user })
}

/// Makes the initramfs of the torture set, which has more programs.
fn initramfs_of_torture(workspace: &Workspace, packages: &Packages) -> Result<Fetched> {
    let folder = workspace.target.join("linux");
    let programs =
        Client::new(&folder, USER_SUITE)?.fetch("torture-programs", &TORTURE_PACKAGES)?;
    let initramfs = folder.join("initramfs-torture");
    let root = Root::with_shell(&packages.user, &folder)?.with_programs(programs);
    root.write(&packages.shell()?, &initramfs).context("making the torture set's initramfs")?;
    Ok(Fetched { image: packages.image.clone(), initramfs })
}

/// Makes the initramfs.
fn initramfs(workspace: &Workspace, packages: Packages) -> Result<Fetched> {
    let folder = workspace.target.join("linux");
    let initramfs = folder.join("initramfs");
    let root = Root::with_shell(&packages.user, &folder)?;
    root.write(&packages.shell()?, &initramfs).context("making the initramfs")?;
    // A name that stays the same, for `examples/linux-guest.toml`.
    let link = folder.join("vmlinux");
    if link.is_symlink() {
        fs::remove_file(&link)?;
    }
    symlink(&packages.image, &link).context("linking the kernel")?;
    Ok(Fetched { image: packages.image, initramfs })
}
