//! Whether a value looks like a credential, given that its label says so.

/// A password is not shorter, in bytes.
const PASSWORD_BYTES: usize = 8;
/// Another credential is not shorter.
const KEY_BYTES: usize = 12;

/// What a label promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// People choose it.
    Password,
    /// Programs generate it.
    Key,
}

/// How a value stands beside its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `PASSWORD=value`, as in the environment: nothing else can follow.
    Assigned,
    /// `"value"`.
    Quoted,
    /// Anything else: the value can be a word of the sentence, or code.
    Bare,
}

/// Whether a value is a credential of a kind.
pub(super) fn is_secret(value: &str, kind: Kind, form: Form) -> bool {
    !stands_for_one(value)
        && match kind {
            Kind::Password => value.len() >= PASSWORD_BYTES && is_password(value, form),
            Kind::Key => value.len() >= KEY_BYTES && is_key(value),
        }
}

/// A digit or a mark that words do not have. Between quotes or in the environment, letters suffice if no one word is
/// made of them.
fn is_password(value: &str, form: Form) -> bool {
    let is_mark = |byte: u8| byte.is_ascii_punctuation() && !b"-_./:,'\\".contains(&byte);
    let has_mark = value.trim_end_matches(['!', '?', '*']).bytes().any(is_mark);
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    match form {
        Form::Assigned | Form::Bare if is_code(value) || starts_path(value) => false,
        Form::Assigned => has_digit || has_mark || value.bytes().all(|byte| byte.is_ascii_alphabetic()),
        Form::Quoted => has_digit || has_mark || is_jagged(value),
        Form::Bare => has_digit || has_mark,
    }
}

/// A long part that mixes letters and digits, or small and capital letters irregularly.
fn is_key(value: &str) -> bool {
    !is_path(value) && !is_code(value) && value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_mixed)
}

fn is_mixed(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.len() - digits;
    part.len() >= 8 && (digits > 1 && letters > 1 || is_jagged(part))
}

/// Whether letters change between small ones, capitals and digits more often than in names of programs.
pub(super) fn is_jagged(text: &str) -> bool {
    let class = |byte: u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let pairs = text.as_bytes().windows(2);
    let turns = pairs.filter(|pair| class(pair[0]) != class(pair[1])).count();
    turns >= 4 && turns * 4 >= text.len()
}

/// A variable, a placeholder, an example.
pub(super) fn stands_for_one(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "your",
        "example",
        "placeholder",
        "changeme",
        "change_me",
        "redacted",
        "xxxx",
        "****",
        "....",
        "required",
        "undefined",
        "optional",
        "disabled",
        "none",
    ];
    let is_variable = value.starts_with(['$', '<', '{', '[', '%', '*', '…', '(', '&']) && value.len() > 1;
    let lower = value.to_ascii_lowercase();
    is_variable && !is_dense(value) || WORDS.iter().any(|word| lower.contains(word))
}

/// A password that merely begins with a mark: `$7kq!9Lz`.
fn is_dense(value: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphabetic() || c == '_';
    let closes = value.ends_with(['}', '>', ']', ')', '%']);
    let rest = value.strip_prefix(['$', '<', '{', '[', '%', '*', '(', '&']).filter(|_| !closes);
    rest.is_some_and(|rest| !rest.trim_start_matches('$').starts_with(is_name))
}

/// A call, an index or a member: `getpass()`, `os.environ["X"]`, `settings.DB_PASSWORD`.
fn is_code(value: &str) -> bool {
    let opens = value.find(['(', '[']).is_some_and(|at| at > 0 && value[..at].bytes().all(is_name));
    let steps = value.split('.').count();
    let is_step =
        |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.bytes().all(is_name);
    let is_member = steps > 2 && value.split('.').all(is_step) || steps == 2 && value.split('.').all(is_word);
    opens || is_member || value.contains("::")
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

fn is_word(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-'))
}

/// A file, an address, a digest: named by words with marks between.
fn is_path(value: &str) -> bool {
    let is_plain = |part: &str| part.len() > 2 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let has_words = value.split('/').any(is_plain);
    starts_path(value)
        || value.contains("://")
        || value.contains('/') && has_words && !value.contains(['+', '='])
}

fn starts_path(value: &str) -> bool {
    ["/", "~/", "./", "../", "sha256:", "sha512:", "sha1:", "md5:"]
        .iter()
        .any(|start| value.starts_with(start))
}
