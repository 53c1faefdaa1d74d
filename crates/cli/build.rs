//! Links optimised builds for Linux at a fixed address.
//!
//! A position-independent executable has 33,000 pointers that the loader adjusts in 141 pages at
//! each start: 30 % of the time that a short command takes. The price is that the addresses of
//! paned's own code are known; stack, heap and libraries stay at random addresses.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_glibc && !is("OPT_LEVEL", "0") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
