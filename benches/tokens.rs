//! What counting tokens costs, as ratios within one run: `cargo bench --bench tokens`.
//!
//! Prints three tables: usual text compared with tiktoken-rs, the worst megabytes compared with English, and
//! one thread compared with two. Real English is read from `UTTERD_DATA` (default `../shared/data`).
#![allow(clippy::disallowed_methods)] // A bench measures time.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use utterd::domain::Encoding;
use utterd::tokenizer::counter;

const MEGABYTE: usize = 1_000_000;

fn main() {
    Encoding::ALL.into_iter().for_each(load);
    usual_text();
    worst_megabytes();
    two_threads();
}

fn load(encoding: Encoding) {
    let (before, start) = (resident_mib(), Instant::now());
    counter(encoding).count("It's 2 o'clock.");
    let (first, first_mib) = (start.elapsed(), resident_mib());
    counter(encoding).count("\u{e2a}");
    println!(
        "load {encoding:12} first count {:4.0} ms, {:3} MiB; with rare characters {:4.0} ms, {:3} MiB",
        first.as_secs_f64() * 1e3,
        first_mib - before,
        start.elapsed().as_secs_f64() * 1e3,
        resident_mib() - before,
    );
}

/// The resident memory of this process; 0 if `/proc` does not say.
fn resident_mib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<i64>().ok());
    kib.unwrap_or(0) / 1024
}

fn usual_text() {
    println!(
        "\nns a token      |  o200k (tiktoken-rs) | cl100k (tiktoken-rs) |   p50k (tiktoken-rs) |   r50k (tiktoken-rs)"
    );
    for (name, texts) in usual() {
        print!("{name:15}");
        for encoding in Encoding::ALL {
            let tokens: u32 = texts.iter().map(|t| counter(encoding).count(t)).sum();
            let ours = best_ns(|| texts.iter().map(|t| counter(encoding).count(t)).sum());
            let reference = reference(encoding);
            let theirs = best_ns(|| {
                let counts = texts.iter().map(|t| reference.encode_ordinary(t).len());
                counts.sum::<usize>() as u32
            });
            let each = |ns: f64| ns / f64::from(tokens);
            print!(" | {:7.1} {:>12}", each(ours), format!("({:.1})", each(theirs)));
        }
        println!();
    }
    let chat = "Could you move my flight to Boston from Tuesday to Thursday morning, and keep the aisle seat if that is still possible?";
    let counter = counter(Encoding::O200kBase);
    let ns = best_ns(|| (0..1000).map(|_| counter.count(black_box(chat))).sum()) / 1e3;
    println!("one chat utterance of {} bytes, o200k: {ns:.0} ns", chat.len());
}

fn reference(encoding: Encoding) -> &'static tiktoken_rs::CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    }
}

fn usual() -> Vec<(&'static str, Vec<String>)> {
    let chat = chat_lines();
    let json = chat.iter().enumerate().map(|(i, line)| {
        let line = serde_json::Value::from(line.as_str());
        format!(
            r#"{{"id":"res_{i:05}","status":"ok","price":{}.{:02},"note":{line}}}"#,
            i * 37 % 977,
            i % 100
        )
    });
    let json = json.collect();
    let code = include_str!("../crates/tokenizer/src/blocks.rs").split("\n\n").map(String::from);
    let cjk = "今日はとても天気がいいですね。散歩に行きませんか？我们明天下午三点在公园门口见面，好吗？";
    let french = "L'été dernier, nous étions allés à la plage où il faisait très chaud.";
    let emoji = "That is great news 🎉 see you on Friday 😀👍 and bring the kids! 👨‍👩‍👧";
    vec![
        ("chat", chat),
        ("JSON", json),
        ("code", code.collect()),
        ("CJK", vec![cjk.to_owned(); 20]),
        ("French", vec![french.to_owned(); 20]),
        ("chat with emoji", vec![emoji.to_owned(); 20]),
    ]
}

fn worst_megabytes() {
    println!("\n1 MB, ns a byte (÷ English)  o200k          cl100k            p50k            r50k");
    let english = chat_lines().join("\n");
    let english: String = english.chars().cycle().take(MEGABYTE).collect();
    let base = Encoding::ALL.map(|encoding| ns_a_byte(encoding, &english));
    for (name, text) in std::iter::once(("English", english)).chain(megabytes()) {
        print!("{name:22}");
        for (encoding, base) in Encoding::ALL.into_iter().zip(base) {
            let ns = ns_a_byte(encoding, &text);
            print!(" {ns:7.1} {:>7}", format!("({:.1})", ns / base));
        }
        println!();
    }
}

fn ns_a_byte(encoding: Encoding, text: &str) -> f64 {
    best_ns(|| counter(encoding).count(text)) / text.len() as f64
}

fn megabytes() -> Vec<(&'static str, String)> {
    let of = |unit: &str| unit.repeat(MEGABYTE / unit.len());
    let run = |unit: &str, times: usize, end: &str| of(&(unit.repeat(times) + end));
    let ascii = |alphabet: &[u8]| {
        let mut next = noise();
        let letters = (0..MEGABYTE).map(|_| char::from(alphabet[next() as usize % alphabet.len()]));
        letters.collect::<String>()
    };
    let unicode = |from: u32, to: u32| {
        let mut next = noise();
        let chars = (0..MEGABYTE / 4).filter_map(|_| char::from_u32(from + next() as u32 % (to - from)));
        chars.collect::<String>()
    };
    vec![
        ("one letter (a)", of("a")),
        ("spaces", of(" ")),
        ("newlines", of("\n")),
        ("tabs", of("\t")),
        ("base64", ascii(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")),
        ("emoji", unicode(0x1f600, 0x1f640)),
        ("one emoji", of("😀")),
        ("dashes", of("-")),
        ("250 dashes, a letter", run("-", 250, "x")),
        ("127 spaces, a letter", run(" ", 127, "x")),
        ("9 tabs, 9 spaces", run("\t", 9, &" ".repeat(9))),
        ("600 dashes, 600 marks", run("-", 600, &ascii(b"!$%&,.;?@[]^|~")[..600])),
        ("CR LF", of("\r\n")),
        ("random letters", ascii(b"abcdefghijklmnopqrstuvwxyz")),
        ("random short words", ascii(b"abcdefghijklmnopqrstuvwxyz    ")),
        ("random punctuation", ascii(b"!#$%&()*+,-./:;<=>?@[]^_{|}~")),
        ("digits", ascii(b"0123456789")),
        ("one ideograph", of("的")),
        ("letters and accents", of("éa")),
        ("all of Unicode", unicode(0xa0, 0x30000)),
        ("symbols", unicode(0x2000, 0x3000)),
    ]
}

/// The same numbers in each run (xorshift).
fn noise() -> impl FnMut() -> u64 {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    }
}

fn two_threads() {
    println!("\n1 → 2 threads, o200k, MB/s");
    let chat = chat_lines();
    let hearts = chat.iter().map(|line| format!("{line} ❤\u{fe0f}")).collect();
    let indented = chat.iter().map(|line| format!("{{\n    {line}\n}}")).collect();
    let rows = [("chat", chat), ("rare characters", hearts), ("white space", indented)];
    for (name, texts) in rows {
        let bytes = texts.iter().map(String::len).sum::<usize>() as f64;
        let one = bytes * passes_a_second(&texts, 1) / 1e6;
        let two = bytes * passes_a_second(&texts, 2) / 1e6;
        println!("{name:16} {one:5.0} → {two:5.0}  (× {:.2})", two / one);
    }
}

/// How often this many threads together count all of the texts per second.
fn passes_a_second(texts: &[String], threads: usize) -> f64 {
    let stop = Instant::now() + Duration::from_millis(700);
    let count_until_stop = || {
        let start = Instant::now();
        let mut passes = 0.0;
        while Instant::now() < stop {
            let counts = texts.iter().map(|t| counter(Encoding::O200kBase).count(t));
            black_box(counts.sum::<u32>());
            passes += 1.0;
        }
        passes / start.elapsed().as_secs_f64()
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(count_until_stop)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).sum()
    })
}

/// The shortest of several runs, in nanoseconds.
fn best_ns(mut work: impl FnMut() -> u32) -> f64 {
    let mut time = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64() * 1e9
    };
    (0..5).map(|_| time()).fold(f64::MAX, f64::min)
}

/// Utterances of real conversations, or made-up ones if the data is absent.
fn chat_lines() -> Vec<String> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = std::env::var_os("UTTERD_DATA").map_or_else(default, PathBuf::from);
    let file = std::fs::read_to_string(data.join("recall/locomo.jsonl")).unwrap_or_default();
    let conversations = file.lines().filter_map(|line| serde_json::from_str(line).ok());
    let lines: Vec<String> = conversations.flat_map(|c: serde_json::Value| contents(&c)).collect();
    if lines.is_empty() {
        println!("(no recall/locomo.jsonl in {}: chat is made up)", data.display());
        return (0..2000)
            .map(|i| format!("Hey, did you see the {i}th game? It's on Sunday at {}!", i % 24))
            .collect();
    }
    lines
}

fn contents(conversation: &serde_json::Value) -> Vec<String> {
    let utterances = conversation["utterances"].as_array().into_iter().flatten();
    utterances.filter_map(|u| u["content"].as_str().map(String::from)).collect()
}
