//! What `ps`, `top` and `htop` show for this process: `paned: keeper build` in place of a command
//! line that is the same for all keepers.

/// How many bytes of a process's short name the system keeps.
const LONGEST_NAME: usize = 15;

/// Sets the short name of this process, which `top` and `pgrep` show. Call this on the main thread.
/// It does nothing on systems other than Linux.
pub fn set_name(name: &str) {
    let mut end = LONGEST_NAME.min(name.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    #[cfg(target_os = "linux")]
    if let Ok(name) = std::ffi::CString::new(&name[..end]) {
        // SAFETY: the call reads a string that ends with NUL, and keeps no pointer to it.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    }
}

/// Sets the short name and the command line of this process; what does not fit into the memory of
/// the original command line is cut off. `std::env::args` is unusable afterwards. It does nothing
/// on systems other than Linux.
pub fn set(title: &str) {
    set_name(title);
    #[cfg(target_os = "linux")]
    if let Some((start, length)) = argument_area() {
        let text = &title.as_bytes()[..title.len().min(length - 1)];
        // SAFETY: the system reports this range as the arguments of this process. It is writable
        // memory of the initial stack that lives as long as the process, and no reference to it
        // exists: arguments were copied when they were read. `text` is shorter than the range.
        unsafe {
            std::ptr::write_bytes(start, 0, length);
            std::ptr::copy_nonoverlapping(text.as_ptr(), start, text.len());
        }
    }
}

/// Where the arguments of this process are, and how many bytes they have: fields 48 and 49 of its
/// `stat` file.
#[cfg(target_os = "linux")]
fn argument_area() -> Option<(*mut u8, usize)> {
    let stat = std::fs::read("/proc/self/stat").ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name may contain spaces; the third field follows it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(48 - 3);
    let start: usize = fields.next()?.parse().ok()?;
    let end: usize = fields.next()?.parse().ok()?;
    let length = end.checked_sub(start).filter(|length| start != 0 && 1 < *length)?;
    Some((std::ptr::with_exposed_provenance_mut(start), length))
}
