//! Line endings and the byte order mark, which stay as they are.

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Edits a text without its byte order mark and with `\n` line ends, and puts both back. A text
/// that mixes line ends is edited as it is.
pub(super) fn preserving<E>(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, E>,
) -> Result<String, E> {
    let bare = text.strip_prefix(BYTE_ORDER_MARK);
    let mark = if bare.is_some() { BYTE_ORDER_MARK.to_string() } else { String::new() };
    let bare = bare.unwrap_or(text);
    let ends = bare.matches('\n').count();
    if ends == 0 || bare.matches("\r\n").count() != ends {
        return Ok(mark + &edit(bare)?);
    }
    Ok(mark + &edit(&bare.replace("\r\n", "\n"))?.replace('\n', "\r\n"))
}
