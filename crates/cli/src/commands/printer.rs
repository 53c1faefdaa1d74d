//! Showing what a pane prints as it comes: its bytes, or its lines.

use anyhow::Result;
use serde_json::json;

use super::cutter::Cutter;
use crate::out::{Out, units};

/// How a pane's output is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Not at all.
    Silent,
    /// Byte for byte.
    Raw,
    /// Line by line, each when it has ended.
    Lines,
    /// The same behind the pane's name: `web: text`.
    Named(String),
    /// The same as JSON.
    Json(String),
}

/// Shows one pane's output.
pub(super) struct Printer {
    out: Out,
    form: Form,
    cutter: Cutter,
}

impl Printer {
    pub(super) fn new(out: Out, form: Form) -> Self {
        Self { out, form, cutter: Cutter::default() }
    }

    /// It printed this.
    ///
    /// # Errors
    /// When whoever reads our output has gone.
    pub(super) fn print(&mut self, bytes: &[u8]) -> Result<()> {
        match self.form {
            Form::Silent => Ok(()),
            Form::Raw => Ok(self.out.bytes(bytes)?),
            Form::Lines | Form::Named(_) | Form::Json(_) => {
                let lines = self.cutter.feed(bytes);
                self.lines(&lines)
            }
        }
    }

    /// All at once: what comes fast is not to wait for a write for each line.
    fn lines(&self, lines: &[String]) -> Result<()> {
        match &self.form {
            Form::Lines => Ok(self.out.programs(lines.iter().map(String::as_str))?),
            Form::Silent | Form::Raw | Form::Named(_) | Form::Json(_) => {
                lines.iter().try_for_each(|line| self.line(line))
            }
        }
    }

    /// So many bytes were lost on the way.
    ///
    /// # Errors
    /// As [`Printer::print`].
    pub(super) fn missed(&mut self, bytes: u64) -> Result<()> {
        self.finish()?;
        let lost = units::bytes(bytes);
        Ok(self.out.aside(format!("paned: {lost} in between are no longer kept"))?)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// As [`Printer::print`].
    pub(super) fn finish(&mut self) -> Result<()> {
        self.cutter.finish().map_or(Ok(()), |line| self.line(&line))
    }

    /// Puts a terminal back that a program has left in disorder.
    ///
    /// # Errors
    /// As [`Printer::print`].
    pub(super) fn last(&self, bytes: &[u8]) -> Result<()> {
        Ok(self.out.bytes(bytes)?)
    }

    fn line(&self, text: &str) -> Result<()> {
        let printed = match shown(&self.form, text) {
            Shown::Text(line) => self.out.program(&line),
            Shown::Json(line) => self.out.json(&line),
        };
        Ok(printed?)
    }
}

/// A line as it is shown.
#[derive(Debug, PartialEq)]
enum Shown {
    Text(String),
    Json(serde_json::Value),
}

fn shown(form: &Form, text: &str) -> Shown {
    match form {
        Form::Silent | Form::Raw | Form::Lines => Shown::Text(text.to_owned()),
        Form::Named(pane) => Shown::Text(format!("{pane}: {text}")),
        Form::Json(pane) => Shown::Json(json!({ "paneId": pane, "text": text })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pane_of_many_stands_before_its_lines() {
        assert_eq!(shown(&Form::Lines, "up"), Shown::Text("up".into()));
        assert_eq!(shown(&Form::Named("web".into()), "up"), Shown::Text("web: up".into()));
        let line = json!({ "paneId": "web", "text": "up" });
        assert_eq!(shown(&Form::Json("web".into()), "up"), Shown::Json(line));
    }
}
