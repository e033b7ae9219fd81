//! What a long text that hands over a task asks for.

use std::borrow::Cow;

use crate::harness::words_of_user;

/// A text of a user with more bytes hands over a task or quotes something: it has a title, and much that is no request.
const LONG_BYTES: usize = 1_200;
/// A first line with more bytes is no title.
const TITLE_BYTES: usize = 160;
/// How much of a task is read: what it asks for stands at its beginning.
const READ_BYTES: usize = 6_000;

/// What a user asks for.
#[derive(Debug, Default, PartialEq)]
pub struct Request<'a> {
    /// The title of the issue or task; empty if it has none.
    pub title: String,
    /// The text, without the title.
    pub body: Cow<'a, str>,
}

impl<'a> Request<'a> {
    /// A text that hands over nothing.
    pub fn plain(text: &'a str) -> Self {
        Self { body: Cow::Borrowed(text), ..Self::default() }
    }
}

/// What `text`, a user's, asks for.
pub fn request(text: &str) -> Request<'_> {
    let own = words_of_user(text);
    if text.len() <= LONG_BYTES {
        return Request { body: own, ..Request::default() };
    }
    let mut lines = own.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    // "We are solving the following issue:" only leads in
    while lines.next_if(|line| line.ends_with(':') && line.len() < TITLE_BYTES).is_some() {}
    let title = lines
        .next_if(|line| line.len() <= TITLE_BYTES)
        .map(|line| line.trim_start_matches(['#', '*', ' ']).trim_end_matches(['*', ' ']).to_owned())
        .unwrap_or_default();
    let mut rest = String::new();
    for line in lines.filter(|line| !line.starts_with('#')) {
        if rest.len() + line.len() > READ_BYTES {
            break;
        }
        rest.push_str(line);
        rest.push('\n');
    }
    Request { title, body: rest.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_a_title_and_a_body() {
        let filler = "It happens each time the queue is full. ".repeat(40);
        let text = format!(
            "We solve the following issue:\nISSUE:\nThe queue stalls\n<!-- say more -->\n### Steps\n{filler}"
        );
        let request = request(&text);
        assert_eq!(request.title, "The queue stalls");
        assert!(request.body.starts_with("It happens"), "{request:?}");
    }

    #[test]
    fn a_message_has_only_a_body() {
        let text = "Please fix the queue.\nIt stalls.";
        assert_eq!(request(text), Request::plain(text));
    }
}
