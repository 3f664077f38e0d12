//! The line to gdb: a socket whose reader looks for Ctrl-C while it waits.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use gdbstub::conn::{Connection, ConnectionExt};

use super::LOOK;
use crate::signals::INTERRUPTION;

/// The socket.
#[derive(Debug)]
pub(super) struct Line(TcpStream);

impl Line {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        Ok(Self(stream))
    }
}

fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

impl Connection for Line {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        Connection::write_all(self, &[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.0)
    }
}

impl ConnectionExt for Line {
    fn read(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        loop {
            match Read::read(&mut self.0, &mut byte) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(byte[0]),
                Err(error) if is_early(&error) => {
                    INTERRUPTION.check().map_err(|_| io::Error::from(ErrorKind::Interrupted))?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        self.0.set_nonblocking(true)?;
        let mut byte = [0];
        let peeked = TcpStream::peek(&self.0, &mut byte);
        self.0.set_nonblocking(false)?;
        match peeked {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(Some(byte[0])),
            Err(error) if is_early(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
