//! Lists of phrases that are written as one text.

/// The `N` phrases of a text, in which `|` stands between them. They are split when utterd is built: what searches for
/// them only compares.
pub(crate) const fn phrases<const N: usize>(list: &'static str) -> [&'static str; N] {
    let (mut found, mut count, mut rest, mut at) = ([""; N], 0, list, 0);
    while at < rest.len() {
        if rest.as_bytes()[at] == b'|' {
            let (phrase, next) = rest.split_at(at);
            found[count] = phrase;
            (count, rest, at) = (count + 1, next.split_at(1).1, 0);
        } else {
            at += 1;
        }
    }
    assert!(count + 1 == N, "the length of the list is not the number of its phrases");
    found[count] = rest;
    found
}
