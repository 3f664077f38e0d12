//! Passes the run time's linker script when the payload is built for the machine.

fn main() {
    println!("cargo:rerun-if-changed=../rt/guest.ld");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
        println!("cargo:rustc-link-arg-bins=-T{folder}/../rt/guest.ld");
        println!("cargo:rustc-link-arg-bins=--no-dynamic-linker");
    }
}
