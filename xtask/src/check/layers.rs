//! Who may use whom. The hypervisor and the machine meet only in `powervisor-arch`: a mistake that
//! both share would hide itself.

use crate::workspace::Package;

/// Each crate, and the crates of ours that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("powervisor-arch", &[]),
    ("powervisor-simulator", &["powervisor-arch"]),
    ("hypervisor-core", &["powervisor-arch"]),
    ("hypervisor-hal", &["powervisor-arch", "hypervisor-core"]),
    ("hypervisor-image", &["powervisor-arch", "hypervisor-core", "hypervisor-hal"]),
    ("guest-rt", &["powervisor-arch"]),
    ("guest-calibrate", &[]),
    ("powervisor-lab", &["powervisor-arch", "powervisor-simulator"]),
    ("powervisor", &["powervisor-arch", "powervisor-simulator", "powervisor-lab"]),
    ("differential", &["powervisor-arch", "powervisor-simulator"]),
    // The checksums that a payload must print are computed on the host by the payload's own parts.
    (
        "system-tests",
        &[
            "powervisor-arch",
            "powervisor-simulator",
            "powervisor-lab",
            "powervisor",
            "guest-compute",
        ],
    ),
    ("conformance", &["powervisor-simulator", "powervisor-arch"]),
    ("xtask", &[]),
];

/// What every payload may use, without a line above.
const OF_A_PAYLOAD: &[&str] = &["powervisor-arch", "guest-rt"];

/// A complaint for each use that is not allowed, and for each crate that the table does not know.
pub(super) fn check(packages: &[Package]) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in packages {
        let row =
            ALLOWED.iter().find(|(name, _)| *name == package.name).map(|(_, allowed)| *allowed);
        let Some(allowed) = row.or(package.is_guest.then_some(OF_A_PAYLOAD)) else {
            complaints.push(format!(
                "{}: a new crate; say in xtask/src/check/layers.rs whom it may use",
                package.name
            ));
            continue;
        };
        for used in package.uses.iter().filter(|used| !allowed.contains(&used.as_str())) {
            complaints.push(format!(
                "{} must not use {used}; see \"Who may use whom\" in ARCHITECTURE.md",
                package.name
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::workspace::Package;

    fn package(name: &str, uses: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            uses: uses.iter().map(|name| (*name).to_owned()).collect(),
            programs: Vec::new(),
            is_guest: name.starts_with("guest-"),
        }
    }

    #[test]
    fn the_hypervisor_and_the_machine_meet_only_in_arch() {
        for name in ["hypervisor-core", "guest-newcomer"] {
            assert!(check(&[package(name, &["powervisor-arch"])]).is_empty(), "{name}");
        }
        for (name, used) in [
            ("hypervisor-core", "powervisor-simulator"),
            ("powervisor-simulator", "hypervisor-core"),
            ("powervisor-arch", "powervisor-simulator"),
            ("guest-hello", "hypervisor-hal"),
            ("guest-newcomer", "hypervisor-hal"),
            ("guest-calibrate", "guest-rt"),
        ] {
            assert_eq!(check(&[package(name, &[used])]).len(), 1, "{name} uses {used}");
        }
        assert_eq!(check(&[package("newcomer", &[])]).len(), 1);
    }
}
