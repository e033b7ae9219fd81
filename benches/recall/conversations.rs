//! The conversations, the questions about them, and the ranking.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use jiff::{civil::DateTime, fmt::strtime, tz::TimeZone};
use serde::Deserialize;
use serde_json::Value;
use utterd::domain::{
    Role,
    recall::{Hit, Index, Query, Said, Search},
};

/// The conversations of a file.
pub struct File {
    pub name: String,
    pub conversations: Vec<Conversation>,
}

/// What was said, and the questions about it.
pub struct Conversation {
    pub spoken: Vec<Spoken>,
    pub questions: Vec<Question>,
}

/// An utterance.
pub struct Spoken {
    pub role: Role,
    pub name: String,
    /// Minutes since 1970.
    pub minute: u32,
    pub content: String,
}

/// A question that the conversation answers.
pub struct Question {
    pub prompt: String,
    pub category: String,
    /// The places of the utterances that answer it.
    pub evidence: HashSet<usize>,
}

impl File {
    /// Each question with its conversation.
    pub fn questions(&self) -> impl Iterator<Item = (&Conversation, &Question)> {
        self.conversations.iter().flat_map(|one| one.questions.iter().map(move |question| (one, question)))
    }

    /// This many utterances: those of its conversations, repeated.
    pub fn cycled(&self, count: usize) -> impl Iterator<Item = &Spoken> + Clone {
        self.conversations.iter().flat_map(|one| &one.spoken).cycle().take(count)
    }
}

impl Conversation {
    pub fn index(&self) -> Index {
        index(&self.spoken)
    }

    /// The minute of its newest utterance.
    pub fn now(&self) -> u32 {
        self.spoken.last().map_or(0, |newest| newest.minute)
    }

    /// At most `count` hits that a prompt finds now in an index of the conversation, the best first.
    pub fn find(&self, index: &Index, prompt: &str, count: usize) -> Vec<Hit> {
        let query = Query::new(prompt).at(self.now());
        Search::new(query, vec![index.clone()]).hits(|_| true, 0..count)
    }
}

/// An index of utterances whose sequences are their places plus one.
pub fn index<'a>(spoken: impl IntoIterator<Item = &'a Spoken>) -> Index {
    let mut index = Index::new();
    index.extend((1..).zip(spoken).map(|(sequence, spoken)| Said {
        sequence,
        role: spoken.role,
        name: &spoken.name,
        minute: spoken.minute,
        content: &spoken.content,
        calls: Vec::new(),
    }));
    index
}

/// The place of the utterance of a hit.
pub fn place(hit: &Hit) -> usize {
    hit.sequence as usize - 1
}

/// The files below `UTTERD_DATA`, by name.
pub fn files() -> Vec<File> {
    let folder = std::env::var_os("UTTERD_DATA").unwrap_or_else(|| "../shared/data".into());
    let folder = PathBuf::from(folder).join("recall");
    let files = paths(&folder, "jsonl").into_iter().map(|path| File {
        name: stem(&path),
        conversations: read(&path).lines().map(conversation).collect(),
    });
    let meetings = folder.with_file_name("summaries").join("qmsum-val.jsonl");
    let meetings = meetings.is_file().then(|| File {
        name: "qmsum".to_owned(),
        conversations: read(&meetings).lines().map(meeting).collect(),
    });
    let files: Vec<File> = files.chain(meetings).collect();
    if files.is_empty() {
        println!("skipped: no files in {}", folder.display());
    }
    files
}

/// The golden sets, by name.
pub fn golden() -> Vec<(String, Conversation)> {
    let paths = paths(&golden_folder(), "json").into_iter().filter(|path| stem(path) != OFF_TOPIC);
    paths.map(|path| (stem(&path), conversation(&read(&path)))).collect()
}

/// Prompts about things that no conversation contains: rare ones, those of every day, and in Chinese.
pub fn off_topic() -> [Vec<String>; 4] {
    #[derive(Deserialize)]
    struct Prompts {
        prompts: Vec<String>,
        everyday: Vec<String>,
        chinese: Vec<String>,
        topics: Vec<String>,
    }
    let path = golden_folder().join(OFF_TOPIC).with_extension("json");
    let Prompts { prompts, everyday, chinese, topics } = serde_json::from_str(&read(&path)).unwrap();
    [prompts, everyday, chinese, topics]
}

const OFF_TOPIC: &str = "offtopic";

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/recall/golden")
}

fn paths(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A conversation in its file.
#[derive(Deserialize)]
struct Written {
    utterances: Vec<WrittenUtterance>,
    questions: Vec<WrittenQuestion>,
}

#[derive(Deserialize)]
struct WrittenUtterance {
    utterance_id: Option<String>,
    role: String,
    name: Option<String>,
    content: String,
    time: Option<String>,
}

#[derive(Deserialize)]
struct WrittenQuestion {
    prompt: String,
    #[serde(default)]
    category: String,
    /// Ids of utterances, or their places.
    evidence: Vec<Value>,
}

/// Omits questions that nothing answers.
fn conversation(json: &str) -> Conversation {
    let written: Written = serde_json::from_str(json).unwrap();
    let ids = written.utterances.iter().map(|utterance| utterance.utterance_id.clone());
    let places: HashMap<_, usize> = ids.zip(0..).collect();
    let place = |evidence: Value| match evidence.as_str() {
        Some(id) => places.get(&Some(id.to_owned())).copied(),
        None => evidence.as_u64().map(|place| place as usize),
    };
    let questions = written.questions.into_iter().map(|question| Question {
        prompt: question.prompt,
        category: question.category,
        evidence: question.evidence.into_iter().filter_map(place).collect(),
    });
    let answered = |question: &Question| question.category != "adversarial" && !question.evidence.is_empty();
    let questions = questions.filter(answered).collect();
    Conversation { spoken: spoken(written.utterances), questions }
}

/// A meeting, and the specific questions about it: each is answered by a range of its turns.
fn meeting(json: &str) -> Conversation {
    let written: Value = serde_json::from_str(json).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let turn = |turn: &Value| Spoken {
        role: Role::User,
        name: text(&turn["speaker"]),
        minute: 0,
        content: text(&turn["content"]),
    };
    let question = |asked: &Value| {
        let spans = asked["relevant_text_span"].as_array().unwrap().iter();
        let ends =
            spans.filter_map(|span| Some((span[0].as_str()?.parse().ok()?, span[1].as_str()?.parse().ok()?)));
        Question {
            prompt: text(&asked["query"]),
            category: String::new(),
            evidence: ends.flat_map(|(first, last): (usize, usize)| first..=last).collect(),
        }
    };
    let listed = |list: &str| written[list].as_array().unwrap().clone();
    Conversation {
        spoken: listed("meeting_transcripts").iter().map(turn).collect(),
        questions: listed("specific_query_list")
            .iter()
            .map(question)
            .filter(|one| !one.evidence.is_empty())
            .collect(),
    }
}

/// An utterance without a readable time gets the time of the previous one.
fn spoken(written: Vec<WrittenUtterance>) -> Vec<Spoken> {
    let mut minute = 0;
    let spoken = written.into_iter().map(|utterance| {
        minute = utterance.time.and_then(|time| self::minute(&time)).unwrap_or(minute);
        Spoken {
            role: Role::named(&utterance.role).unwrap(),
            name: utterance.name.unwrap_or_default(),
            minute,
            content: utterance.content,
        }
    });
    spoken.collect()
}

/// The minutes since 1970 of a time in the files' notations: `1:56 pm on 8 May, 2023`, `March-15-2024` or
/// `2025-02-08T18:05:12Z`.
fn minute(time: &str) -> Option<u32> {
    let whole = || strtime::parse("%I:%M %p on %d %B, %Y", time).and_then(|parsed| parsed.to_datetime());
    let day = || strtime::parse("%B-%d-%Y", time).and_then(|parsed| parsed.to_date()).map(DateTime::from);
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    let timestamp = whole().or_else(|_| day()).and_then(utc).or_else(|_| time.parse()).ok()?;
    u32::try_from(timestamp.as_second() / 60).ok()
}
