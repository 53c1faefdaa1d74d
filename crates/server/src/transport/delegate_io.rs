//! Delegation for streams that wrap another stream.
//!
//! A wrapper implements tokio's own traits, writes the methods that it changes, and names the rest
//! here. The wrapped stream is its field `stream`.

/// Methods with these names call the wrapped stream.
macro_rules! delegate_io {
    (poll_read) => { delegate_io!(fn poll_read(buf: &mut tokio::io::ReadBuf<'_>) -> ()); };
    (poll_write) => { delegate_io!(fn poll_write(buf: &[u8]) -> usize); };
    (poll_write_vectored) => {
        delegate_io!(fn poll_write_vectored(bufs: &[std::io::IoSlice<'_>]) -> usize);
    };
    (poll_flush) => { delegate_io!(fn poll_flush() -> ()); };
    (poll_shutdown) => { delegate_io!(fn poll_shutdown() -> ()); };
    (is_write_vectored) => {
        fn is_write_vectored(&self) -> bool {
            self.stream.is_write_vectored()
        }
    };
    (fn $name:ident($($arg:ident: $type:ty)?) -> $answer:ty) => {
        fn $name(
            mut self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            $($arg: $type)?
        ) -> std::task::Poll<std::io::Result<$answer>> {
            std::pin::Pin::new(&mut self.stream).$name(cx, $($arg)?)
        }
    };
    ($first:ident $($more:ident)+) => {
        delegate_io! { $first }
        delegate_io! { $($more)+ }
    };
}

pub(crate) use delegate_io;
