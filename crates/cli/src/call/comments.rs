//! The comments of the protos, from their descriptors.

use prost_reflect::{FieldDescriptor, MethodDescriptor, prost_types::FileDescriptorProto};

/// The comment of a method.
pub fn of_method(method: &MethodDescriptor) -> String {
    comment(method.parent_file().file_descriptor_proto(), method.path())
}

/// The comment of a field.
pub fn of_field(field: &FieldDescriptor) -> String {
    comment(field.parent_file().file_descriptor_proto(), field.path())
}

/// The comment of what stands at `path` in a file, on one line for each paragraph.
fn comment(file: &FileDescriptorProto, path: &[i32]) -> String {
    let mut locations = file.source_code_info.iter().flat_map(|info| &info.location);
    let location = locations.find(|location| location.path == path);
    let text = location.map(|location| location.leading_comments()).unwrap_or_default();
    let paragraphs = text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The first sentence of a comment, with the `Optional.` or `Required.` before it.
pub fn first_sentence(comment: &str) -> String {
    let starts = comment.match_indices(". ").map(|(at, _)| at + 1);
    // the word `Optional.` or `Required.` is no sentence
    let long = |end: &usize| comment[..*end].contains(' ');
    let end = starts.filter(long).chain(comment.find('\n')).min();
    comment[..end.unwrap_or(comment.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_is_taken_with_the_word_before_it() {
        for (comment, expected) in [
            ("Counts tokens. It is exact.", "Counts tokens."),
            ("Optional. The id, such as a.b. By default, none.", "Optional. The id, such as a.b."),
            ("Required.", "Required."),
            ("One\nTwo. Three.", "One"),
            ("Ends at once", "Ends at once"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(comment), expected);
        }
    }
}
