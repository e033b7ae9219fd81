//! The simplest summarisers, over lines of the form `Speaker: sentence` and `Speaker called name(arguments)`.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use utterd::domain::{Role, Utterance};

use crate::{entities::content_words, tokens};

/// TextRank's value.
const DAMPING: f32 = 0.85;
/// Ranks have settled after this many rounds.
const ROUNDS: usize = 20;

/// The first sentences.
pub fn lead(source: &[Arc<Utterance>], limit: u32) -> String {
    let lines = lines(source);
    let order = (0..lines.len()).collect();
    filled(&lines, order, limit)
}

/// The longest sentences.
pub fn longest(source: &[Arc<Utterance>], limit: u32) -> String {
    let lines = lines(source);
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|line| Reverse(lines[*line].len()));
    filled(&lines, order, limit)
}

/// The sentences that share the most words with others of high rank.
pub fn text_rank(source: &[Arc<Utterance>], limit: u32) -> String {
    let lines = lines(source);
    let ranks = ranks(&lines);
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|one, other| ranks[*other].total_cmp(&ranks[*one]));
    filled(&lines, order, limit)
}

/// The lines that fit, chosen in `order`, in the order in which they were said.
pub fn filled(lines: &[String], order: Vec<usize>, limit: u32) -> String {
    let mut left = limit;
    let mut taken = Vec::new();
    for line in order {
        let cost = tokens(&lines[line]);
        if cost <= left {
            left -= cost;
            taken.push(line);
        }
        if left < 8 {
            break;
        }
    }
    taken.sort_unstable();
    taken.into_iter().map(|line| lines[line].as_str()).collect()
}

fn lines(source: &[Arc<Utterance>]) -> Vec<String> {
    let mut lines = Vec::new();
    for utterance in source.iter().filter(|utterance| utterance.role != Role::Tool) {
        let role = if utterance.role == Role::User { "User" } else { "Assistant" };
        let speaker = utterance.name().unwrap_or(role);
        lines.extend(sentences(&utterance.content).into_iter().map(|said| format!("{speaker}: {said}\n")));
        let calls = utterance.tool_calls().iter();
        lines.extend(calls.map(|call| format!("{speaker} called {}({})\n", call.name, call.arguments_json)));
    }
    lines
}

/// Splits text at line breaks and after full stops, question marks and exclamation marks.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(end) = rest.find(". ").into_iter().chain(rest.find("? ")).chain(rest.find("! ")).min()
        {
            found.push(rest[..=end].trim());
            rest = &rest[end + 1..];
        }
        found.push(rest.trim());
    }
    found.retain(|sentence| sentence.contains(char::is_alphanumeric));
    found
}

fn ranks(lines: &[String]) -> Vec<f32> {
    let links = links(&lines.iter().map(|line| content_words(line)).collect::<Vec<_>>());
    let sums: Vec<f32> = links.iter().map(|of| of.iter().map(|(_, weight)| weight).sum()).collect();
    let mut ranks = vec![1.0; lines.len()];
    for _ in 0..ROUNDS {
        let gained = |of: &[(usize, f32)]| -> f32 {
            of.iter().map(|(from, weight)| weight / sums[*from] * ranks[*from]).sum()
        };
        ranks = links.iter().map(|of| 1.0 - DAMPING + DAMPING * gained(of)).collect();
    }
    ranks
}

/// For each line, the lines that share words with it, weighted by their number relative to the lengths.
fn links(words: &[HashSet<String>]) -> Vec<Vec<(usize, f32)>> {
    let mut having: HashMap<&str, Vec<usize>> = HashMap::new();
    for (line, words) in words.iter().enumerate() {
        words.iter().for_each(|word| having.entry(word).or_default().push(line));
    }
    let length = |line: usize| (1.0 + words[line].len() as f32).ln();
    let mut shared = vec![0u16; words.len()];
    let links = (0..words.len()).map(|line| {
        words[line].iter().flat_map(|word| &having[&**word]).for_each(|other| shared[*other] += 1);
        shared[line] = 0;
        let others = shared.iter_mut().enumerate().filter(|(_, count)| **count > 0);
        let weighed = |(other, count): (usize, &mut u16)| {
            (other, f32::from(std::mem::take(count)) / (length(line) + length(other)))
        };
        others.map(weighed).collect()
    });
    links.collect()
}
