//! A search over everything that a recipient ever said: in its indexes, and through the engine.

use std::{
    fmt::Write as _,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    time::Duration,
};

use utterd::{
    domain::{
        Draft, Role,
        recall::{Query, Search},
    },
    engine::{Address, Scope},
};

use crate::{
    conversations::{File, Spoken, index},
    engine::{memorize_all, search},
    evidence::FIRST,
    served::{draft, engine, fjall},
    table::{Table, grouped},
    timed::{Times, least, micros, millis, timed},
};

const CONVERSATIONS: usize = 1_000;
/// Utterances per conversation.
const EACH: usize = 1_000;
/// Prompts to search for.
const PROMPTS: usize = 150;
/// Runs, of which the shortest counts.
const RUNS: usize = 3;

/// Prints a table. The texts are those of the users in `files`, repeated, each with a made-up name and a
/// number: a few names are frequent and most are rare, so new ones keep coming.
pub fn print(files: &[File]) {
    let texts: Vec<&Spoken> = files.iter().flat_map(users).collect();
    let (mut indexes, mut text) = (Vec::with_capacity(CONVERSATIONS), 0);
    let (making, ()) = timed(|| {
        for number in 0..CONVERSATIONS {
            let spoken = spoken(&texts, number);
            text += spoken.iter().map(|spoken| spoken.content.len()).sum::<usize>();
            indexes.push(index(&spoken));
        }
    });
    indexes.reverse();
    let prompts: Vec<&str> =
        files.iter().flat_map(File::questions).map(|(_, asked)| &*asked.prompt).collect();
    let prompts: Vec<&str> =
        prompts.iter().copied().step_by(prompts.len().div_ceil(PROMPTS).max(1)).collect();
    let query = |prompt: &str| Query::new(prompt).at((CONVERSATIONS * EACH) as u32);
    let time =
        |prompt: &&str| least(RUNS, || Search::new(query(prompt), indexes.clone()).hits(|_| true, 0..FIRST));
    let times: Times = prompts.iter().map(time).collect();
    let (count, size) = (CONVERSATIONS * EACH, indexes.iter().map(|index| index.heap_bytes()).sum::<usize>());
    let mut table = Table::new(&format!("{} utterances of one recipient", grouped(count))).columns(["", ""]);
    table.row("searching them: median, p99", [millis(times.median()), millis(times.p99())]);
    table.row("making their indexes, and each utterance", [millis(making), micros(making / count as u32)]);
    table.row(
        "bytes of the indexes for each of text, and an utterance",
        [format!("{:.2}", size as f64 / text as f64), format!("{} bytes", size / count)],
    );
    let (first, next) = served(&texts, &prompts);
    table.row(
        "the engine over fjall, the first Remember: it makes the indexes",
        [millis(first), String::new()],
    );
    table.row("  each next: median, p99", [millis(next.median()), millis(next.p99())]);
    table.print();
}

/// The recipient's first Remember, and the later ones, in an engine over fjall.
fn served(texts: &[&Spoken], prompts: &[&str]) -> (Duration, Times) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let served = engine(fjall(directory.path()));
    let runtime = utterd::server::runtime().unwrap();
    let texts: Vec<Vec<Draft>> =
        (0..CONVERSATIONS).map(|number| spoken(texts, number).iter().map(draft).collect()).collect();
    let prompts: Vec<String> = prompts.iter().map(|prompt| (*prompt).to_owned()).collect();
    // In a task, like calls of the server.
    let measured = runtime.spawn(async move {
        for (number, drafts) in texts.into_iter().enumerate() {
            memorize_all(&served, &format!("c{number}"), &drafts).await;
        }
        let search = async |prompt: &str| search(&served, Address::default(), Scope::Recipient, prompt).await;
        let first = search(&prompts[0]).await;
        let mut next = Vec::with_capacity(prompts.len());
        for prompt in &prompts {
            let mut least = search(prompt).await;
            for _ in 1..RUNS {
                least = least.min(search(prompt).await);
            }
            next.push(least);
        }
        (first, Times::from_iter(next))
    });
    runtime.block_on(measured).unwrap()
}

fn users(file: &File) -> impl Iterator<Item = &Spoken> {
    let all = file.conversations.iter().flat_map(|one| &one.spoken);
    all.filter(|spoken| spoken.role == Role::User)
}

/// The utterances of the conversation with this number, one per minute.
fn spoken(texts: &[&Spoken], number: usize) -> Vec<Spoken> {
    let spoken = (number * EACH..(number + 1) * EACH).map(|place| {
        let text = texts[place % texts.len()];
        let mut content = text.content.clone();
        let _ = write!(content, " {} {}", name(place), mixed(place) % 100_000);
        Spoken { role: text.role, name: text.name.clone(), minute: place as u32, content }
    });
    spoken.collect()
}

/// The name in the utterance at a place: the n-th of the names so far has a frequency of 1/n.
fn name(place: usize) -> String {
    let share = mixed(place) as f64 / u64::MAX as f64;
    let mut rest = (place as f64 + 1.0).powf(share) as usize;
    let mut name = String::new();
    while rest > 0 || name.len() < 4 {
        name.push(['b', 'd', 'f', 'k', 'l', 'm', 'n', 'p', 'r', 't'][rest % 10]);
        name.push(['a', 'e', 'i', 'o', 'u'][rest % 5]);
        rest /= 10;
    }
    name
}

/// A hash of a place, the same in each run.
fn mixed(place: usize) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(place)
}
