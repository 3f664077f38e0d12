//! Passes the linker script when the program is built for the machine.

fn main() {
    println!("cargo:rerun-if-changed=prefetch-engine.ld");
    println!("cargo:rerun-if-changed=src");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
        println!("cargo:rustc-link-arg-bins=-T{folder}/prefetch-engine.ld");
        println!("cargo:rustc-link-arg-bins=--no-dynamic-linker");
    }
}
