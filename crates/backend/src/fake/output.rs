//! The output of a fake pane.

use std::io;
use std::ops::Range;

use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};

use super::FakePane;
use crate::{LineMark, Output, OutputGap, OutputTime, SizeMark};

impl Output for FakePane {
    fn first(&self) -> u64 {
        self.lock().first
    }

    fn end(&self) -> u64 {
        self.lock().printed.len() as u64
    }

    fn lines(&self) -> u64 {
        self.lock().printed.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    fn taken(&self) -> u64 {
        self.lock().taken
    }

    fn size(&self) -> Size {
        self.lock().sizes.last().map_or(self.spec.size, |(_, size)| *size)
    }

    fn sizes(&self, after: u64) -> Vec<SizeMark> {
        let inner = self.lock();
        let all = [(0, self.spec.size)].into_iter().chain(inner.sizes.iter().copied());
        let marks = all.zip(1..).map(|((offset, size), n)| SizeMark { n, offset, size });
        marks.filter(|mark| after < mark.n).collect()
    }

    fn last_input(&self) -> u64 {
        self.lock().last_input
    }

    fn last_echo_in(&self, range: Range<u64>) -> Option<Range<u64>> {
        let is_in = |echo: &&Range<u64>| echo.start < range.end && range.start < echo.end;
        self.lock().echoes.iter().rfind(is_in).cloned()
    }

    fn ending(&self) -> Option<ExitRecord> {
        self.lock().ending
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        let inner = self.lock();
        if offset < inner.first {
            return Ok(Err(OutputGap { first: inner.first }));
        }
        let from = inner.printed.len().min(offset as usize);
        let rest = &inner.printed[from..];
        let wanted = rest.len().min(buffer.len());
        buffer[..wanted].copy_from_slice(&rest[..wanted]);
        Ok(Ok(wanted))
    }

    fn line_mark(&self, _: u64) -> io::Result<Result<LineMark, OutputGap>> {
        Ok(Ok(LineMark { offset: 0, lines: 0, time: Time(1) }))
    }

    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        let inner = self.lock();
        let later = inner.times.partition_point(|(from, _)| *from <= offset);
        let time = later.checked_sub(1).map_or(Time(1), |at| inner.times[at].1);
        let until = inner.times.get(later).map_or(u64::MAX, |(from, _)| *from);
        Ok(Ok(OutputTime { time, until }))
    }
}
