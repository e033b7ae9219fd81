//! Who says what in a line of a summary.

/// What stands between who made a call and the call.
const CALLED: &str = " called ";
/// What stands between who said something and what was said.
const SAYS: &str = ": ";

/// A line of a summary, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domain) struct Spoken<'a> {
    /// `User`, or the participant's name; empty where the line names nobody.
    pub speaker: &'a str,
    /// What was said; of a call `name(arguments) → outcome`.
    pub said: &'a str,
    /// Whether it is a call.
    pub is_call: bool,
}

impl<'a> Spoken<'a> {
    /// Takes `line` apart: `User: …`, `Assistant called name(arguments) → outcome`.
    pub(in crate::domain) fn of(line: &'a str) -> Self {
        let said = line.split_once(SAYS);
        let call = line.split_once(CALLED).filter(|(caller, call)| {
            // a colon behind it is the outcome's
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
