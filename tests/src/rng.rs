//! Random choices that can be repeated.
#![expect(
    clippy::print_stdout,
    clippy::new_without_default,
    reason = "a seed is for whoever reads a failure"
)]

/// A small generator, so that a failing run can be repeated from its seed.
pub struct SeededRng(u64);

impl SeededRng {
    /// A generator for this process; prints the seed.
    #[must_use]
    pub fn new() -> Self {
        let seed = u64::from(std::process::id()) * 2 + 1;
        println!("seed {seed}");
        Self(seed)
    }

    /// A generator whose seed is the variable `SEED`, if there is one; prints the seed.
    #[must_use]
    pub fn from_env() -> Self {
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("SEED={seed}");
        Self::seeded(seed)
    }

    /// A generator that gives the same numbers for the same seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        // Mixed, so that neighbouring seeds differ at once; never zero, where it would stay.
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Self((mixed ^ (mixed >> 27)) | 1)
    }

    /// A number below `sides`.
    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}
