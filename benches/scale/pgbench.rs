//! Rounds of pgbench.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Command, Stdio},
    time::Duration,
};

use tempfile::NamedTempFile;

use crate::{
    database::Database,
    rounds::{ROUND, Round},
};

const CLIENTS: usize = 64;
const THREADS: usize = 2;

/// A script of pgbench.
pub struct Script(NamedTempFile);

impl Script {
    pub fn new(text: &str) -> Self {
        let mut file = NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("a script");
        Self(file)
    }

    /// Runs it for a round with these variables. What happens in its first second, while it connects and
    /// prepares its statements, does not count.
    pub fn round(&self, database: &Database, variables: &[(&str, String)]) -> Round {
        let mut command = Command::new(database.cluster().bin("pgbench"));
        command.args(["--no-vacuum", "--protocol=prepared", "--progress=1", "--progress-timestamp"]);
        command.arg(format!("--client={CLIENTS}")).arg(format!("--jobs={THREADS}"));
        command.arg(format!("--time={}", ROUND.as_secs() + 1)).arg("--file").arg(self.0.path());
        command.args(variables.iter().map(|(name, value)| format!("--define={name}={value}")));
        command.arg(database.cluster().url()).env("LC_ALL", "C");
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pgbench starts");
        let mut seen = Vec::new();
        for line in BufReader::new(child.stderr.take().expect("its progress")).lines() {
            let line = line.expect("text");
            let told = Told::of(&line);
            assert!(told.is_some() || !line.contains("error"), "{line}");
            seen.extend(told.map(|told| (told, database.cpu())));
        }
        let mut summary = String::new();
        child.stdout.take().expect("its output").read_to_string(&mut summary).expect("text");
        assert!(child.wait().expect("its end").success(), "{summary}");
        result(&seen)
    }
}

/// The clients of a run.
pub fn clients() -> usize {
    CLIENTS
}

fn result(seen: &[(Told, Duration)]) -> Round {
    let [(first, before), .., (last, after)] = seen else { panic!("pgbench told too little") };
    let transactions: f64 = seen.windows(2).map(|two| two[1].0.rate * (two[1].0.at - two[0].0.at)).sum();
    let database = (*after - *before).as_secs_f64() * 1e6 / transactions;
    Round { rate: transactions / (last.at - first.at), servers: 0.0, database }
}

/// A line of its progress.
struct Told {
    /// In seconds.
    at: f64,
    /// Transactions per second since the last one.
    rate: f64,
}

impl Told {
    /// `progress: 1700000000.123 s, 2345.6 tps, …`
    fn of(line: &str) -> Option<Self> {
        let (at, rest) = line.strip_prefix("progress: ")?.split_once(" s, ")?;
        let (rate, _) = rest.split_once(" tps")?;
        Some(Self { at: at.parse().ok()?, rate: rate.parse().ok()? })
    }
}
