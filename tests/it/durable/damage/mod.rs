//! Files are damaged in many ways, and a server is started over them: it reports the damage, or has lost
//! nothing.
//!
//! What the engine cannot notice, the store's own mark, counts and checksums do. What nothing can notice is
//! shown at the end.

mod harm;
mod outcome;
mod whole;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use utterd::store::durable::EngineKind;

use crate::support::{asked, random::Random};
use harm::Harm;
use outcome::Outcome;
use whole::Whole;

/// How often each store is damaged, unless the environment sets another number.
const CASES: u64 = 25;

macro_rules! on_each_engine {
    ($($case:ident)*) => {
        mod on_fjall {
            $(#[test] fn $case() { super::$case(super::EngineKind::Fjall); })*
        }
        mod on_sled {
            $(#[test] fn $case() { super::$case(super::EngineKind::Sled); })*
        }
    };
}

on_each_engine! {
    a_damaged_file_is_noticed_or_does_no_harm
    damage_after_a_kill_costs_the_newest_writes_at_most
    a_file_that_is_gone_is_noticed
    a_disk_that_is_one_write_behind_is_noticed_by_its_mark_only
}

fn a_damaged_file_is_noticed_or_does_no_harm(engine: EngineKind) {
    let whole = Whole::closed(engine);
    let mut tally = BTreeMap::new();
    for_each_harm(&whole, |path, harm| {
        let outcome = whole.after(harm, path);
        let fine = match &outcome {
            Outcome::Right => true,
            Outcome::Refused(text) => names_the_store_and_a_way_out(text),
            Outcome::Failing(text) => text.contains("run utterd verify for details"),
            Outcome::Found(_) => true,
            _ => false,
        };
        assert!(fine, "{engine}, {} {harm}: {outcome}", path.display());
        *tally.entry(outcome.name()).or_insert(0) += 1;
    });
    println!("{engine}: {tally:?}");
    assert!(tally["right"] > 0 && tally["refused"] > 0, "the harm is of all kinds: {tally:?}");
}

/// When a process is killed, the newest groups are flushed, but the mark might not include them yet.
fn damage_after_a_kill_costs_the_newest_writes_at_most(engine: EngineKind) {
    let whole = Whole::killed(engine);
    let mut tally = BTreeMap::new();
    for_each_harm(&whole, |path, harm| {
        let outcome = whole.after(harm, path);
        let wrong = matches!(outcome, Outcome::Wrong(_) | Outcome::Hanging | Outcome::Panicking(_));
        assert!(!wrong, "{engine}, {} {harm}: {outcome}", path.display());
        *tally.entry(outcome.name()).or_insert(0) += 1;
    });
    println!("{engine}: {tally:?}");
}

/// Each file in turn.
fn a_file_that_is_gone_is_noticed(engine: EngineKind) {
    let whole = Whole::closed(engine);
    for path in whole.files.0.keys() {
        let outcome = whole.after(Harm::Remove, path);
        match is_made_anew(path, engine) {
            true => assert_eq!(outcome, Outcome::Right, "{engine}, {}", path.display()),
            false => {
                assert!(matches!(outcome, Outcome::Refused(_)), "{engine}, {}: {outcome}", path.display())
            }
        }
    }
}

/// Without its mark, a store is accepted as it is; sled recreates its configuration and its snapshot from the
/// log.
fn is_made_anew(path: &Path, engine: EngineKind) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    ["LOCK", "mark", "conf"].contains(&&*name)
        || path == Path::new(engine.name()).join("lock")
        || name.starts_with("snap.")
}

/// A disk that claims to have written what it has not, or a directory that was restored from a copy: the
/// engine's files are those from before the last write. What is not in the mark yet cannot be missed; what is
/// in it is.
fn a_disk_that_is_one_write_behind_is_noticed_by_its_mark_only(engine: EngineKind) {
    let (before, after, mark) = Whole::one_write_apart(engine);
    let is_engines = |path: &Path| path.starts_with(engine.name());
    let mut stale = after.files.clone();
    stale.0.retain(|path, _| !is_engines(path));
    stale.0.extend(
        before
            .files
            .0
            .iter()
            .filter(|(path, _)| is_engines(path))
            .map(|(path, file)| (path.clone(), file.clone())),
    );
    match after.outcome(&stale) {
        Outcome::Earlier(1) => {}
        // The mark follows a second after the write at the latest: it might have been written already.
        outcome => assert!(outcome.is_behind(), "{outcome}"),
    }
    stale.0.insert("mark".into(), mark);
    let outcome = after.outcome(&stale);
    assert!(outcome.is_behind(), "{outcome}");
}

/// fjall's checksums do not cover a group's place in its journal: a misplaced group is skipped. The chain of
/// groups shows that it is missing.
#[test]
fn fjall_misplaces_a_group() {
    const END_AND_START: [u8; 5] = [b'F', b'J', b'L', 3, 1];
    let whole = Whole::closed(EngineKind::Fjall);
    let journal = Path::new("fjall/data-000002/0.jnl");
    let bytes = &whole.files.0[journal].bytes;
    let starts = bytes.windows(5).enumerate().filter(|(_, window)| *window == END_AND_START);
    // After the start: the number of items, 4 bytes, then the place, its lowest byte first.
    let places: Vec<usize> = starts.map(|(end, _)| end + 9).filter(|place| bytes[*place] != 0).collect();
    assert!(places.len() > 100, "{}", places.len());
    let place = places[places.len() - 10];
    let mut files = whole.damaged(Harm::Flip(place, bytes[place]), journal);
    files.0.remove(Path::new("mark"));
    assert_eq!(whole.goes_on(&files), Outcome::Right, "without its mark a store is taken as it is");

    for place in places.into_iter().step_by(10) {
        match whole.after(Harm::Flip(place, bytes[place]), journal) {
            Outcome::Refused(text) => {
                assert!(text.contains("is missing, and later ones are there"), "{text}")
            }
            outcome => panic!("byte {place}: {outcome}"),
        }
    }
}

/// sled panics on some of these: the panic is caught, and is the message that a user reads. Where in sled's log a harm
/// lands depends on when sled wrote what: any other way of noticing it is as good.
#[test]
fn sled_panics_and_a_user_reads_why() {
    const REASON: &str =
        "the store in DIR cannot be opened: cannot open DIR/sled/data-000002: the engine panicked: ";
    const WAY_OUT: &str = "; if its files are damaged, restore a backup: utterd restore FILE --to sled:DIR";
    let whole = Whole::large(EngineKind::Sled);
    let log = log_of(&whole);
    let length = whole.files.0[log].bytes.len();
    let harms =
        (0..4).map(|part| length * part / 4).flat_map(|place| [Harm::Cut(place), Harm::Flip(place, 0x55)]);
    let mut panics = 0;
    for harm in harms.chain([Harm::Remove]) {
        match whole.after(harm, log) {
            Outcome::Refused(text) if text.starts_with(REASON) && text.ends_with(WAY_OUT) => panics += 1,
            Outcome::Refused(text) if names_the_store_and_a_way_out(&text) => {}
            Outcome::Right | Outcome::Failing(_) | Outcome::Found(_) => {}
            outcome => panic!("{harm}: {outcome}"),
        }
    }
    assert!(panics > 0, "none of these makes sled panic any more");
}

/// Depending on what sled had written where, it is noticed when the store is opened, or by an answer.
#[test]
fn sled_reordered() {
    let whole = Whole::closed(EngineKind::Sled);
    match whole.after(Harm::Swap, log_of(&whole)) {
        Outcome::Refused(text) => assert!(names_the_store_and_a_way_out(&text), "{text}"),
        Outcome::Failing(text) => assert!(text.contains("run utterd verify"), "{text}"),
        outcome => panic!("{outcome}"),
    }
}

fn log_of(whole: &Whole) -> &PathBuf {
    whole.files.0.keys().find(|path| path.ends_with("db")).unwrap()
}

fn names_the_store_and_a_way_out(text: &str) -> bool {
    text.contains("DIR") && ["a backup", "remove it"].iter().any(|way| text.contains(way))
}

/// Damages every file of the store in turn, most often those that are written last.
fn for_each_harm(whole: &Whole, mut check: impl FnMut(&Path, Harm)) {
    let mut random = Random::new(asked("UTTERD_DAMAGE_SEED").unwrap_or(1));
    let paths: Vec<&PathBuf> =
        whole.files.0.iter().filter(|(_, file)| !file.bytes.is_empty()).map(|(path, _)| path).collect();
    let largest = paths.iter().max_by_key(|path| whole.files.0[**path].bytes.len()).unwrap();
    for _ in 0..asked("UTTERD_DAMAGE_CASES").unwrap_or(CASES) {
        let path = if random.percent(50) { *largest } else { random.pick(&paths).unwrap() };
        check(path, Harm::any(&whole.files.0[path], &mut random));
    }
}
