//! Who says what in a summary's line.

/// Separates the caller from the call.
const CALLED: &str = " called ";
/// Separates the speaker from what was said.
const SAYS: &str = ": ";

/// A summary's line, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spoken<'a> {
    /// `User`, or the participant's name; empty if the line names nobody.
    pub speaker: &'a str,
    /// What was said; for a call, `name(arguments) → outcome`.
    pub said: &'a str,
    /// Whether it is a call.
    pub is_call: bool,
}

impl<'a> Spoken<'a> {
    /// Splits `line`: `User: …`, `Assistant called name(arguments) → outcome`.
    pub(crate) fn of(line: &'a str) -> Self {
        let said = line.split_once(SAYS);
        let call = line.split_once(CALLED).filter(|(caller, call)| {
            // a colon after the call belongs to the outcome
            call.contains('(') && said.is_none_or(|(speaker, _)| caller.len() < speaker.len())
        });
        let (speaker, said) = call.or(said).unwrap_or(("", line));
        Self { speaker, said, is_call: call.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_said_or_called() {
        let cases = [
            ("User: I called Ann (twice): no answer", ("User", "I called Ann (twice): no answer", false)),
            ("Ann called pay(W7) → ok: paid", ("Ann", "pay(W7) → ok: paid", true)),
            ("Ann called pay(W7) → ok", ("Ann", "pay(W7) → ok", true)),
            ("The meeting was called off.", ("", "The meeting was called off.", false)),
            ("It was called off: rain.", ("It was called off", "rain.", false)),
        ];
        for (line, (speaker, said, is_call)) in cases {
            assert_eq!(Spoken::of(line), Spoken { speaker, said, is_call }, "{line}");
        }
    }
}
