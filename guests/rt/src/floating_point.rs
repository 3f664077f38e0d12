//! Floating point for payloads whose code is compiled without it: the instructions are named one by one.
//!
//! Numbers are the bits of an `f64`. On a host the functions compute the same by its own arithmetic, so
//! that a host knows what a partition has to find.

/// Allows floating point: MSR\[FP\], as a kernel does.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub fn allow() {
    // SAFETY: the payload's own code has no floating point; this makes no difference to it.
    unsafe {
        core::arch::asm!(
            "mfmsr {0}",
            "or {0}, {0}, {1}",
            "mtmsrd {0}",
            "isync",
            out(reg) _,
            in(reg) arch::registers::msr::FP,
            options(nostack),
        );
    }
}

/// `dividend` / `divisor`. Floating point must be allowed.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[must_use]
pub fn quotient(dividend: u64, divisor: u64) -> u64 {
    let mut numbers = [dividend, divisor];
    // SAFETY: reads and writes the array. The compiler's code uses no floating-point register.
    unsafe {
        core::arch::asm!(
            "lfd 0, 0({0})",
            "lfd 1, 8({0})",
            "fdiv 0, 0, 1",
            "stfd 0, 0({0})",
            in(reg_nonzero) numbers.as_mut_ptr(),
            options(nostack),
        );
    }
    numbers[0]
}

/// `dividend` / `divisor`.
#[cfg(not(all(target_arch = "powerpc64", target_os = "none")))]
#[must_use]
pub fn quotient(dividend: u64, divisor: u64) -> u64 {
    (f64::from_bits(dividend) / f64::from_bits(divisor)).to_bits()
}

/// Adds `factor` times each of `numbers` to its partner in `sums`, with one rounding each. Floating
/// point must be allowed.
///
/// # Panics
/// If the two differ in length.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub fn add_multiples(sums: &mut [u64], factor: u64, numbers: &[u64]) {
    assert_eq!(sums.len(), numbers.len(), "a partner for each");
    if sums.is_empty() {
        return;
    }
    // SAFETY: goes once through both slices, which have one length that is not zero; the pointers
    // before the first elements are not read. The compiler's code uses no floating-point register.
    unsafe {
        core::arch::asm!(
            "mtctr {count}",
            "lfd 0, 0({factor})",
            "2:",
            "lfdu 1, 8({numbers})",
            "lfd 2, 8({sums})",
            "fmadd 2, 0, 1, 2",
            "stfdu 2, 8({sums})",
            "bdnz 2b",
            count = in(reg) sums.len(),
            factor = in(reg_nonzero) &raw const factor,
            numbers = inout(reg_nonzero) numbers.as_ptr().wrapping_sub(1) => _,
            sums = inout(reg_nonzero) sums.as_mut_ptr().wrapping_sub(1) => _,
            out("ctr") _,
            options(nostack),
        );
    }
}

/// Adds `factor` times each of `numbers` to its partner in `sums`, with one rounding each.
///
/// # Panics
/// If the two differ in length.
#[cfg(not(all(target_arch = "powerpc64", target_os = "none")))]
pub fn add_multiples(sums: &mut [u64], factor: u64, numbers: &[u64]) {
    assert_eq!(sums.len(), numbers.len(), "a partner for each");
    let factor = f64::from_bits(factor);
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum = factor.mul_add(f64::from_bits(*number), f64::from_bits(*sum)).to_bits();
    }
}

#[cfg(test)]
mod tests {
    use super::{add_multiples, quotient};

    #[test]
    fn multiples_are_added_with_one_rounding() {
        // (1 + e)^2 - (1 + 2e) is e^2, which two roundings would lose.
        let near_one = 1.0 + f64::EPSILON;
        let mut sums = [-(1.0 + 2.0 * f64::EPSILON), 2.0].map(f64::to_bits);
        add_multiples(&mut sums, near_one.to_bits(), &[near_one, 4.0].map(f64::to_bits));
        assert_eq!(
            sums.map(f64::from_bits),
            [f64::EPSILON * f64::EPSILON, 6.0 + 4.0 * f64::EPSILON]
        );
        assert_eq!(quotient(1.0_f64.to_bits(), 8.0_f64.to_bits()), 0.125_f64.to_bits());
    }
}
