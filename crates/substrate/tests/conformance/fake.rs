//! What only the fake can show: each write, one by one.

use paned_substrate::Substrate as _;
use paned_substrate::{FakeSubstrate, Target};

use crate::programs;
use crate::test_substrate::{SIZE, named};

#[tokio::test]
async fn enter_is_a_write_of_its_own() {
    let (fake, name) = (FakeSubstrate::default(), named("a"));
    fake.spawn(&name, &programs::cat(), SIZE).await.unwrap();
    let target = Target::from(&name);
    fake.send(&target, "one\ntwo").await.unwrap();
    fake.key(&target, "Up").await.unwrap();
    fake.send(&target, "").await.unwrap();
    let writes: [&[u8]; 4] = [b"one\ntwo", b"\r", b"\x1b[A", b"\r"];
    assert_eq!(fake.writes(&target).unwrap(), writes);
}

#[tokio::test]
async fn a_test_can_print_for_a_program() {
    let (fake, name) = (FakeSubstrate::default(), named("a"));
    fake.spawn(&name, &programs::cat(), SIZE).await.unwrap();
    let target = Target::from(&name);
    fake.print(&target, b"thinking\r\n\x1b[?1h").unwrap();
    assert_eq!(fake.capture(&target, 5).await.unwrap(), ["thinking"]);
    fake.key(&target, "Up").await.unwrap();
    assert_eq!(fake.writes(&target).unwrap(), [b"\x1bOA"]);
}
