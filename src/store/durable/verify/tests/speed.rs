use std::time::Instant;
use super::super::verify;
use crate::{domain::Policy, store::durable::{Directory, EngineKind, copy, life::{Life, Shelf, user}}};

#[test]
#[allow(clippy::disallowed_methods)]
fn speed() {
    for engine in EngineKind::ALL {
        let files = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(engine, files.path());
        for number in 0..200u8 {
            let mut life = Life::new(&shelf, &format!("life {number}"), number + 1, Policy::ROLLING);
            for part in 0..25 {
                life.say((0..20).map(|at| user(&format!("In step {part}-{at} the port is {number}, and the file is /etc/{at}.conf; please tell me what the server of the customer does when it is restarted at noon, and why."))).collect());
            }
        }
        drop(shelf);
        let directory = Directory::open(engine, files.path(), 64 << 20).unwrap();
        for _ in 0..2 {
            let start = Instant::now();
            let report = verify(&directory, &mut |_| {}).unwrap();
            println!("{engine}: {} utterances {} records {} segments, {} problems in {:?}", report.utterances, report.records, report.segments, report.problems.len(), start.elapsed());
        }
        let other = tempfile::tempdir().unwrap();
        let to = Directory::open_or_create(engine, other.path(), 64 << 20).unwrap();
        let start = Instant::now();
        let copied = copy(&directory, &to, &mut |_| {}).unwrap();
        println!("copied {copied:?} in {:?}", start.elapsed());
    }
}
