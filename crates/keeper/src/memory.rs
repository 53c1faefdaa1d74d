//! Allocator settings: when freed memory goes back to the system.

/// The smallest buffer that gets its own mapping, and the most free memory kept at the top of each
/// heap, in bytes. With less, an answer of a few hundred kilobytes would need new pages each time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 20;

/// Has the allocator return large buffers to the system as soon as they are dropped. Call it before
/// there are other threads.
///
/// The C library maps a large buffer separately. But when the first one is freed, it takes all
/// buffers up to that size for short-lived and allocates them from the heap from then on, where one
/// live buffer keeps the pages of many freed ones. A server that once had a large request would
/// stay large for ever.
pub fn configure_malloc() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes two numbers and changes settings of the allocator, which has a lock for
    // that.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    fn resident() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    }

    #[test]
    fn what_was_large_is_given_back_although_something_behind_it_lives() {
        configure_malloc();
        // One is dropped first, after which others would share pages.
        drop(std::hint::black_box(vec![1_u8; 8 << 20]));
        let before = resident();
        let (mut large, mut small) = (Vec::new(), Vec::new());
        for _ in 0..32 {
            large.push(std::hint::black_box(vec![1_u8; 2 << 20]));
            small.push(std::hint::black_box(vec![1_u8; 1 << 10]));
        }
        assert!(before + (60 << 20) < resident());
        drop(large);
        let after = resident();
        assert!(after < before + (8 << 20), "{before} became {after}");
        drop(small);
    }
}
