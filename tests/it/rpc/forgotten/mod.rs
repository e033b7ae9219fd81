//! A hard forget reaches everything: words are said in every place that stores any, forgotten, and searched
//! for wherever text comes out.

pub mod reads;
mod step;
mod story;
mod words;

use std::{
    fs::{self, DirEntry},
    io,
    path::Path,
    sync::Arc,
};

use tokio::runtime;
use utterd::{
    config::{DurableEngine, Files, Place, Settings},
    server::upkeep,
};

use crate::support::{model::Model, session::Session};
use reads::Read;
use story::Story;
use words::{CONTROL, WORDS};

#[tokio::test]
async fn no_answer_holds_what_was_forgotten() {
    let model = Model::new();
    forgotten(Session::with_model(model.clone()).await, model).await;
}

#[test]
fn no_file_of_fjall_holds_what_was_forgotten() {
    no_file_holds_it(DurableEngine::Fjall);
}

#[test]
fn no_file_of_sled_holds_what_was_forgotten() {
    no_file_holds_it(DurableEngine::Sled);
}

fn no_file_holds_it(engine: DurableEngine) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    // with the runtime, everything that uses the files ends
    on_a_runtime(async {
        let model = Model::new();
        forgotten(Session::with_model_in(path, engine, model.clone()).await, model).await;
    });
    let found = |text: &str| WORDS.into_iter().filter(|word| holds(text, word)).collect::<Vec<_>>();
    assert_eq!(found(&content(path)), WORDS, "they were written, and nothing is rewritten by then");
    let files = Files { engine, directory: path.to_owned() };
    upkeep::scrub(&files).expect("the files are rewritten");
    let scrubbed = content(path);
    assert!(found(&scrubbed).is_empty(), "the files still hold {:?}", found(&scrubbed));
    assert!(holds(&scrubbed, CONTROL));
    let verified = upkeep::verify(&Place::Files(files), &Settings::default());
    assert_eq!(verified.expect("the files are read").problems, []);
}

/// Tells the story, has the words forgotten, and searches for them in everything that can then be read.
async fn forgotten(session: Session, model: Arc<Model>) {
    let mut story = Story::told(session, model).await;
    let mut before = story.texts().await;
    let calls = story.folded().await;
    before.extend(story.texts().await);
    assert_each_shows_control(&before);
    for word in WORDS {
        assert!(before.iter().any(|read| holds(&read.text, word)), "{word} was not said");
    }
    story.forget(calls).await;
    let after = story.texts().await;
    assert_each_shows_control(&after);
    assert_none_shows_a_word(&after);
    let shown = [story.shown()];
    assert_each_shows_control(&shown);
    assert_none_shows_a_word(&shown);
    story.undo().await;
    let mut undone = story.texts().await;
    undone.extend(story.previews().await);
    assert_each_shows_control(&undone);
    assert_none_shows_a_word(&undone);
    let again = story.again().await;
    assert!(again.iter().all(|read| read.text.contains("replayed: true")));
    assert_each_shows_control(&again);
    assert_none_shows_a_word(&again);
    let traces = story.traces().await;
    assert!(traces.iter().all(|read| !holds(&read.text, CONTROL)), "they never show text");
    assert_none_shows_a_word(&traces);
}

/// Checks that each read contains the control word, which was not forgotten.
#[track_caller]
fn assert_each_shows_control(reads: &[Read]) {
    for read in reads {
        let mut same = reads.iter().filter(|other| other.asked == read.asked);
        assert!(same.any(|read| holds(&read.text, CONTROL)), "{} shows nothing: {}", read.asked, read.text);
    }
}

#[track_caller]
fn assert_none_shows_a_word(reads: &[Read]) {
    for Read { asked, about, text } in reads {
        let found: Vec<_> = WORDS.iter().filter(|word| holds(text, word)).collect();
        assert!(found.is_empty(), "{asked} of {about} shows {found:?}: {text}");
    }
}

fn holds(text: &str, word: &str) -> bool {
    text.to_lowercase().contains(word)
}

/// The contents of all files below a directory; invalid UTF-8 is replaced.
pub fn content(directory: &Path) -> String {
    let of_entry = |entry: io::Result<DirEntry>| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return content(&path);
        }
        let bytes = fs::read(path).expect("a file");
        // an engine's file can end in a large hole
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    };
    fs::read_dir(directory).expect("a directory").map(of_entry).collect()
}

pub fn on_a_runtime(work: impl Future<Output = ()>) {
    runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work);
}
