//! The shortest path from a connection through a program on a pty and back: one thread for each
//! direction, and nothing is kept.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use crate::child::READY;
use crate::error::{Error, IoContext};
use crate::limits::BarePty;

/// A connection to a program on a pty. Dropping it ends both.
pub(crate) struct Relay {
    client: TcpStream,
    _program: BarePty,
}

impl Relay {
    /// Starts a program that echoes its input, and connects to it.
    pub(crate) fn start(argv: &[String]) -> Result<Self, Error> {
        let program = BarePty::start(argv)?;
        let listener = TcpListener::bind("127.0.0.1:0").doing("listen")?;
        let address = listener.local_addr().doing("listen")?;
        let mut client = TcpStream::connect(address).doing("connect")?;
        let (server, _) = listener.accept().doing("accept")?;
        for end in [&client, &server] {
            end.set_nodelay(true).doing("set up a connection")?;
        }
        let pty = program.blocking()?;
        let typed = program.blocking()?;
        let towards = server.try_clone().doing("share a connection")?;
        thread::spawn(move || pass(towards, typed));
        thread::spawn(move || {
            let ended = server.try_clone();
            let _ = pass(pty, server);
            ended.map(|server| server.shutdown(Shutdown::Both))
        });
        let mut ready = [0; READY.len()];
        client.read_exact(&mut ready).doing("hear an echo")?;
        Ok(Self { client, _program: program })
    }

    /// Sends one character and waits until it comes back.
    pub(crate) fn echo(&mut self) -> Result<(), Error> {
        self.client.write_all(b"x").doing("type")?;
        self.client.read_exact(&mut [0]).doing("hear an echo")
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.client.shutdown(Shutdown::Both);
    }
}

fn pass(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = [0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            got => to.write_all(&buffer[..got])?,
        }
    }
}

impl BarePty {
    /// The program's terminal, with blocking reads and writes.
    fn blocking(&self) -> Result<File, Error> {
        self.wait_on_reads()?;
        Ok(File::from(self.terminal()?))
    }
}
