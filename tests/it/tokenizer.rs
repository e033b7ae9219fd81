//! Token counts compared with OpenAI's own algorithm (tiktoken-rs), on generated, adversarial and real text.
//! `PROPTEST_CASES` sets how many texts are generated.

use std::path::PathBuf;

use proptest::prelude::*;
use utterd::domain::Encoding;
use utterd::tokenizer::{counter, encoding_for};

/// The reference count.
fn oracle(encoding: Encoding, text: &str) -> u32 {
    let reference = match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    };
    reference.encode_ordinary(text).len() as u32
}

fn assert_exact(text: &str) {
    for encoding in Encoding::ALL {
        let counted = counter(encoding).count(text);
        assert_eq!(counted, oracle(encoding, text), "{encoding}: {text:?}");
    }
}

// Generated text

proptest! {
    #[test]
    fn mixed_text_counts_exactly(text in texts(fragments(), 40)) {
        assert_exact(&text);
    }

    #[test]
    fn any_string_counts_exactly(text in any::<String>()) {
        assert_exact(&text);
    }

    #[test]
    fn long_pieces_count_exactly(text in texts(long_fragments(), 6)) {
        assert_exact(&text);
    }
}

fn texts(fragment: impl Strategy<Value = String>, most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(fragment, 0..most).prop_map(|parts| parts.concat())
}

/// Short parts that occur in all orders, so that each rule of the split meets every other one.
fn fragments() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ \n]?[A-Za-z]{1,12}",
        2 => "[ \t\r\n\u{a0}\u{3000}\u{2028}\u{85}\u{b}\u{200b}]{1,5}",
        2 => "(\r\n){1,3}| {1,40}|\n{1,40}",
        2 => "['’][sStTmMdDſ]|'(re|VE|ll|lL|ſ|Re|vE)|K|ſ|İ|ß",
        2 => "[0-9٣४²½Ⅷ〇]{1,7}",
        1 => "[éñüøÄß]{1,4}|e\u{301}|\u{301}{1,3}|ʰ|ǅ|ª|º",
        1 => "[а-яА-Я]{1,9}|[α-ω]{1,5}|[א-ת]{1,4}|[ก-๙]{1,9}|[अ-ह]{1,4}",
        1 => "[ぁ-ん一-龥ァ-ヶ가-힣]{1,12}[。、！]?",
        1 => "[😀-🙏]{1,3}|👩‍👩‍👧|❤\u{fe0f}|🇩🇪|\u{1f3fd}",
        2 => "[!-/:-@\\[-`{-~]{1,6}[\r\n/]{0,2}",
        1 => special_tokens(),
        1 => prop::char::any().prop_map(String::from),
        1 => "[\u{0}-\u{1f}\u{7f}-\u{9f}]{1,3}",
        1 => r#"\{"[a-z]{1,8}": ?("[a-z0-9]{0,9}"|[0-9]{1,6}|\[\])\}"#,
    ]
}

fn special_tokens() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "<|endoftext|>",
        "<|endofprompt|>",
        "<|fim_prefix|>",
        "<|im_start|>",
        "<|return|>",
    ])
    .prop_map(String::from)
}

/// Parts of tens to hundreds of characters without a boundary, and parts that end a block.
fn long_fragments() -> impl Strategy<Value = String> {
    let runs = (long_unit(), 1usize..700).prop_map(|(unit, times)| unit.repeat(times));
    prop_oneof![
        4 => runs,
        1 => "[a-z]{30,300}|[A-Z]{30,300}|[A-Za-z]{30,300}",
        1 => "[A-Za-z0-9+/]{30,400}={0,2}",
        1 => "[-=*#_/ ]{60,300}|[-=]{60,300}|[ \t\n]{60,300}",
        1 => "(\\|-{1,150}){1,5}\\|\n",
        3 => run_of_runs(),
        1 => "([A-Za-z]{1,9} ){20,120}",
        1 => "[\u{900}-\u{dff}\u{2000}-\u{2fff}\u{10000}-\u{1ffff}]{10,90}",
        1 => "[ab]{300,900}|[aeinst]{300,900}|[ก-ฮ]{100,300}|[的是了]{100,300}",
        2 => fragments(),
    ]
}

/// One piece made of runs of a few characters, each with its own length.
fn run_of_runs() -> impl Strategy<Value = String> {
    let families = prop::sample::select(vec![" \t\n\r", "-=*#_", "aes", "./\\|"]);
    let run = move |family: &'static str| {
        let of_one = (prop::sample::select(family.chars().collect::<Vec<_>>()), 1usize..80);
        texts(of_one.prop_map(|(c, times)| String::from(c).repeat(times)), 12)
    };
    families.prop_flat_map(run)
}

fn long_unit() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[-=*#_/.~ \t\n\ra-zA-Z0-9!]",
        1 => prop::char::any().prop_map(String::from),
        1 => "[-=*# \n]{2,3}|\r\n|é|的|😀|\u{3000}|─",
    ]
}

// Chosen text

#[test]
fn known_counts() {
    let count = |encoding| counter(encoding).count("tiktoken is great!");
    assert_eq!(Encoding::ALL.map(count), [6, 6, 6, 6]);
    assert_eq!(counter(Encoding::O200kBase).count(""), 0);
}

#[test]
fn special_tokens_count_as_ordinary_text() {
    for encoding in Encoding::ALL {
        assert!(counter(encoding).count("<|endoftext|>") > 1);
    }
    assert_exact("<|endoftext|> and <|im_start|>user<|im_end|>");
}

#[test]
fn contractions_count_exactly_in_every_spelling() {
    for text in ["it's", "IT'S", "it'ſ", " I'ſ", "'ſ", "they'LL 'll", "we'Re'vE", "x'\u{212a}"] {
        assert_exact(text);
    }
}

#[test]
fn runs_of_every_length_count_exactly() {
    for unit in [" ", "-", "=", "\t", "\n", "*", "a"] {
        for times in (60..200).chain([255, 256, 257, 511, 777, 1023, 1024, 1025]) {
            assert_exact(&unit.repeat(times));
            assert_exact(&format!("x{}y", unit.repeat(times)));
        }
    }
}

// A megabyte of one thing

const MEGABYTE: usize = 1_000_000;

/// A count that is not linear takes minutes here: `benches/tokens.rs` prints the times of a release build.
macro_rules! a_megabyte_of_anything_counts_exactly {
    ($($name:ident: $encoding:ident,)*) => {
        mod a_megabyte_of_anything_counts_exactly {
            use super::*;
            $(
                #[test]
                fn $name() {
                    for (name, text) in megabytes() {
                        let counted = counter(Encoding::$encoding).count(&text);
                        assert_eq!(counted, long_text_oracle(Encoding::$encoding, &text), "{name}");
                    }
                }
            )*
        }
    };
}

a_megabyte_of_anything_counts_exactly! {
    in_o200k: O200kBase,
    in_cl100k: Cl100kBase,
    in_p50k: P50kBase,
    in_r50k: R50kBase,
}

/// tiktoken-rs panics on some long runs of white space and is slow on others: for texts with such runs, the
/// `tiktoken` crate replaces it, which this project does not use to count them.
fn long_text_oracle(encoding: Encoding, text: &str) -> u32 {
    if text.as_bytes().chunk_by(u8::eq).all(|run| run.len() < 1000) {
        return oracle(encoding, text);
    }
    let reference = tiktoken::get_encoding(encoding.name()).expect("an encoding");
    reference.count(text) as u32
}

fn megabytes() -> Vec<(&'static str, String)> {
    let of = |unit: &str| unit.repeat(MEGABYTE / unit.len());
    let base64 = noise(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let letters = noise(b"abcdefghijklmnopqrstuvwxyz");
    let mixed = [of(" "), of("a"), of("\n"), letters, base64.clone(), of("-"), of("😀")];
    let mixed = mixed.map(|part| part.chars().take(MEGABYTE / 10).collect::<String>());
    vec![
        ("spaces", of(" ")),
        ("a", of("a")),
        ("newlines", of("\n")),
        ("emoji", of("😀")),
        ("rulers", of(&format!("{}\n", "-".repeat(999)))),
        ("base64", base64),
        ("rare characters", rare_characters()),
        ("ideographic spaces", of("…\u{3000}")),
        ("mixed", mixed.concat()),
    ]
}

/// A megabyte of letters from the alphabet.
fn noise(alphabet: &[u8]) -> String {
    let letter = |n| char::from(alphabet[n % alphabet.len()]);
    numbers().map(letter).take(MEGABYTE).collect()
}

/// A megabyte of the scripts of India, Tibet and Indochina, all mixed.
fn rare_characters() -> String {
    let chars = numbers().filter_map(|n| char::from_u32(0x900 + n as u32 % 0x700));
    chars.take(MEGABYTE / 3).collect()
}

/// The same numbers in each run (xorshift).
fn numbers() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(0x2545_F491_4F6C_DD1D_u64), |state| {
        let state = state ^ (state << 13);
        let state = state ^ (state >> 7);
        Some(state ^ (state << 17))
    })
    .map(|state| (state >> 16) as usize)
}

// Real text

#[test]
fn real_transcripts_count_exactly() {
    let folder = data().join("transcripts");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: no transcripts in {}", folder.display());
        return;
    };
    let mut texts: Vec<String> = files
        .flat_map(|file| std::fs::read_to_string(file.expect("a file").path()))
        .flat_map(|file| file.lines().flat_map(transcript_texts).collect::<Vec<_>>())
        .collect();
    texts.sort_unstable();
    texts.dedup();
    assert!(texts.len() > 100, "only {} texts", texts.len());
    texts.iter().for_each(|text| assert_exact(text));
}

fn data() -> PathBuf {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    std::env::var_os("UTTERD_DATA").map_or_else(default, PathBuf::from)
}

/// The contents and the tool-call arguments of a transcript's line.
fn transcript_texts(line: &str) -> Vec<String> {
    let transcript: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
    let messages = transcript["messages"].as_array().expect("messages");
    let calls = messages.iter().filter_map(|m| m["tool_calls"].as_array()).flatten();
    let arguments = calls.map(|call| &call["function"]["arguments"]);
    let contents = messages.iter().map(|m| &m["content"]);
    contents.chain(arguments).filter_map(|text| text.as_str()).map(String::from).collect()
}

// Names

#[test]
fn encodings_are_found_by_name_and_by_model() {
    for encoding in Encoding::ALL {
        assert_eq!(encoding_for(encoding.name()), Some(encoding));
        assert_eq!(Encoding::from_name(encoding.name()), Some(encoding));
    }
    for (name, encoding) in [
        ("gpt-4o-2024-05-13", Encoding::O200kBase),
        ("gpt-5.1", Encoding::O200kBase),
        ("gpt-oss-20b", Encoding::O200kBase),
        ("o200k_harmony", Encoding::O200kBase),
        ("ft:gpt-3.5-turbo:team::id", Encoding::Cl100kBase),
        ("text-embedding-3-small", Encoding::Cl100kBase),
        ("text-davinci-003", Encoding::P50kBase),
        ("p50k_edit", Encoding::P50kBase),
        ("code-davinci-edit-001", Encoding::P50kBase),
        ("gpt2", Encoding::R50kBase),
        ("davinci", Encoding::R50kBase),
    ] {
        assert_eq!(encoding_for(name), Some(encoding), "{name}");
    }
    for unknown in ["", "claude-3-opus", "O200K_BASE", "gpt"] {
        assert_eq!(encoding_for(unknown), None, "{unknown}");
    }
}
