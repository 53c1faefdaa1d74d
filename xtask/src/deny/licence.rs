//! Licence expressions: `MIT OR Apache-2.0`, `(MIT OR Zlib) AND Unicode-3.0`, and the old form
//! `MIT/Apache-2.0`.

/// Whether the allowed licences are enough for an expression. One that cannot be read is not
/// allowed.
pub(crate) fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    reader.any() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    /// One of several.
    fn any(&mut self) -> Option<bool> {
        let mut fits = self.all()?;
        while self.take("OR") {
            fits |= self.all()?;
        }
        Some(fits)
    }

    /// All of several, which binds closer.
    fn all(&mut self) -> Option<bool> {
        let mut fits = self.one()?;
        while self.take("AND") {
            fits &= self.one()?;
        }
        Some(fits)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let fits = self.any()?;
            return self.take(")").then_some(fits);
        }
        let (name, rest) = self.words.split_first()?;
        self.words = rest;
        let mut licence = (*name).to_owned();
        if self.take("WITH") {
            let (exception, rest) = self.words.split_first()?;
            self.words = rest;
            licence = format!("{licence} WITH {exception}");
        }
        Some(self.allowed.contains(&licence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expect: bool) {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        assert_eq!(is_allowed(expression, &allowed), expect, "{expression}");
    }

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        check("MIT", true);
        check("MIT OR GPL-3.0", true);
        check("GPL-3.0/MIT", true);
        check("MIT AND GPL-3.0", false);
        check("(GPL-3.0 OR MIT) AND Zlib", true);
        check("GPL-3.0 OR MIT AND Zlib", true);
        check("GPL-3.0 OR MIT AND MPL-2.0", false);
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        check("Apache-2.0", false);
        check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    }

    #[test]
    fn what_cannot_be_read_is_not_allowed() {
        check("", false);
        check("MIT OR", false);
        check("(MIT", false);
        check("MIT Zlib", false);
    }
}
