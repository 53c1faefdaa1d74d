//! Other users of the machine, played by threads of a test that runs as root.

use rustix::process::geteuid;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_res_uid};

/// A user that owns nothing here.
pub const OTHER_UID: u32 = 61_234;

/// Whether a test can act as other users here. Prints a line when not, because the test then proves
/// nothing.
#[must_use]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub fn can_switch_users() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        eprintln!("left out: only root can play another user");
    }
    is_root
}

/// Runs this as another user, on a thread of its own: on Linux each thread has its own credentials.
pub fn as_user<T: Send>(uid: u32, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let play = move || {
            become_user(uid);
            work()
        };
        scope.spawn(play).join().unwrap()
    })
}

/// Makes the calling thread another user's, for good.
pub fn become_user(uid: u32) {
    let user = Uid::from_raw(uid);
    let group = Gid::from_raw(uid);
    set_thread_groups(&[]).unwrap();
    set_thread_gid(group).unwrap();
    set_thread_res_uid(user, user, user).unwrap();
}
