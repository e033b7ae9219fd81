//! The log that `power.c` writes: what a server did to its files, interleaved with what its callers requested
//! and received.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use crate::crash::load::Watch;

/// The start of every record.
const MAGIC: u64 = 0x9d3c_51e7_a60b_42f8;
/// Bytes of a record's header.
const HEADER: usize = 40;
/// Records of the test itself; smaller numbers are those of `power.c`.
const BEGUN: u32 = 100;
const ANSWERED: u32 = 101;

/// Builds the logging library, and names the log.
#[derive(Clone, Debug)]
pub struct Recorder {
    library: PathBuf,
    directory: PathBuf,
    log: PathBuf,
}

impl Recorder {
    /// A recorder of what happens below `directory`, with its files in `scratch`.
    ///
    /// The error says what this machine lacks.
    pub fn new(directory: &Path, scratch: &Path) -> Result<Self, String> {
        if !cfg!(target_os = "linux") {
            return Err("the recorder is made for Linux".to_owned());
        }
        let library = scratch.join("power.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/crash/power.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
        match compiler.arg(&library).arg(&source).output() {
            Err(error) => return Err(format!("no C compiler: cc: {error}")),
            Ok(output) if !output.status.success() => {
                panic!("{}: {}", source.display(), String::from_utf8_lossy(&output.stderr))
            }
            Ok(_) => {}
        }
        let directory = directory.canonicalize().expect("the directory is there");
        let recorder = Self { library, directory, log: scratch.join("power.log") };
        let probe = Command::new("true").envs(recorder.variables()).output().expect("`true` is there");
        match probe.status.success() {
            true => Ok(recorder),
            false => Err(String::from_utf8_lossy(&probe.stderr).into_owned()),
        }
    }

    /// The environment variables of a process to record.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
        vec![
            ("LD_PRELOAD", text(&self.library)),
            ("POWER_DIRECTORY", text(&self.directory)),
            ("POWER_LOG", text(&self.log)),
        ]
    }

    /// Writes marks into the log.
    pub fn marks(&self) -> Marks {
        let file = OpenOptions::new().append(true).create(true).open(&self.log);
        Marks(file.expect("the log can be appended to"))
    }

    /// What has been logged so far.
    pub fn log(&self) -> Log {
        Log { bytes: std::fs::read(&self.log).expect("the log can be read") }
    }
}

/// Records in the log when a call was sent and when it was answered.
pub struct Marks(File);

impl Marks {
    fn write(&self, kind: u32, name: &str) {
        let length = u32::try_from(name.len()).expect("a short name");
        let mut record = MAGIC.to_ne_bytes().to_vec();
        [kind, length, 0, 0].iter().for_each(|number| record.extend(number.to_ne_bytes()));
        record.extend([0; 16]);
        record.extend(name.as_bytes());
        // A single write, so that nothing of another process comes between.
        let written = (&self.0).write(&record).expect("the log can be written");
        assert_eq!(written, record.len());
    }
}

impl Watch for Marks {
    fn begun(&self, name: &str) {
        self.write(BEGUN, name);
    }

    fn answered(&self, name: &str) {
        self.write(ANSWERED, name);
    }
}

/// One event. Files are named by their inode, which a later file can have again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A process that works below the directory `path` started.
    Started { file: u64, path: &'a str },
    /// A file or directory was opened.
    Opened { file: u64, path: &'a str, how: Opening },
    /// Bytes were written into a file.
    Written { file: u64, offset: u64, bytes: &'a [u8] },
    /// The size of a file changed.
    Sized { file: u64, size: u64 },
    /// A sync of a file or directory began.
    SyncBegan { file: u64, sync: u64 },
    /// The sync succeeded.
    SyncEnded { file: u64, sync: u64 },
    /// A file or directory was renamed.
    Renamed { from: &'a str, to: &'a str },
    /// A name of a file was removed.
    Unlinked { path: &'a str },
    /// A directory was created.
    Made { file: u64, path: &'a str },
    /// A directory was removed.
    Removed { path: &'a str },
    /// A file got an additional name.
    Linked { from: &'a str, to: &'a str },
    /// Bytes are about to be sent to a socket.
    Sent { bytes: &'a [u8] },
    /// A caller is about to send this call.
    Begun { name: &'a str },
    /// A caller has received the answer.
    Answered { name: &'a str },
}

/// How a file was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// It did not exist before.
    pub created: bool,
    /// It existed, and its content was removed.
    pub truncated: bool,
    /// It is a directory.
    pub is_directory: bool,
}

/// A complete log.
pub struct Log {
    bytes: Vec<u8>,
}

impl Log {
    /// The number of bytes, most of which were written to files.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The records in order.
    ///
    /// A record that a kill cut off is left out: its call had not been answered. The error names operations
    /// on the files that cannot be followed.
    pub fn records(&self) -> Result<Vec<Record<'_>>, String> {
        let (mut records, mut rest) = (Vec::new(), self.bytes.as_slice());
        while let Some(start) = find_magic(rest) {
            rest = &rest[start..];
            match whole(rest) {
                Some((parts, behind)) => {
                    records.extend(parts.record()?);
                    rest = behind;
                }
                None => rest = &rest[1..],
            }
        }
        Ok(records)
    }
}

fn find_magic(bytes: &[u8]) -> Option<usize> {
    let magic = MAGIC.to_ne_bytes();
    match bytes.starts_with(&magic) {
        true => Some(0),
        false => bytes.windows(magic.len()).position(|window| window == magic),
    }
}

/// A record's header and its data.
struct Parts<'a> {
    kind: u32,
    file: u64,
    argument: u64,
    first: &'a [u8],
    second: &'a [u8],
}

/// The record that `bytes` begin with, and the rest; `None` if it was cut off.
fn whole(bytes: &[u8]) -> Option<(Parts<'_>, &[u8])> {
    let header = bytes.get(..HEADER)?;
    let short = |at: usize| header[at..at + 4].try_into().map(u32::from_ne_bytes).unwrap_or(0);
    let long = |at: usize| header[at..at + 8].try_into().map(u64::from_ne_bytes).unwrap_or(0);
    let (first, second) = (short(12) as usize, short(16) as usize);
    let body = bytes.get(HEADER..HEADER + first + second)?;
    let behind = &bytes[HEADER + body.len()..];
    let (first, second) = body.split_at(first);
    let parts = Parts { kind: short(8), file: long(24), argument: long(32), first, second };
    is_at_border(behind).then_some((parts, behind))
}

/// Whether `bytes` begin with what can follow a complete record: a record, a part of one that a kill left, or
/// nothing.
fn is_at_border(bytes: &[u8]) -> bool {
    let magic = MAGIC.to_ne_bytes();
    (0..magic.len()).any(|length| match bytes.strip_prefix(&magic[..length]) {
        Some(rest) => rest.is_empty() || rest.starts_with(&magic),
        None => false,
    })
}

impl<'a> Parts<'a> {
    /// The record; `None` if it changes no file.
    fn record(&self) -> Result<Option<Record<'a>>, String> {
        let (file, sync) = (self.file, self.argument);
        let (path, to) = (text(self.first), text(self.second));
        Ok(Some(match self.kind {
            1 => Record::Started { file, path },
            2 => Record::Opened { file, path, how: self.opening() },
            3 => Record::Written { file, offset: self.argument, bytes: self.first },
            4 => Record::Sized { file, size: self.argument },
            5 => Record::SyncBegan { file, sync },
            6 => Record::SyncEnded { file, sync },
            7 => Record::Renamed { from: path, to },
            8 => Record::Unlinked { path },
            9 => Record::Made { file, path },
            10 => Record::Removed { path },
            11 => Record::Linked { from: path, to },
            12 => Record::Sent { bytes: self.first },
            13 => return Ok(None), // sync_file_range: starts writing and guarantees nothing
            14 => return Err(format!("the server uses {path}, which the log cannot follow")),
            BEGUN => Record::Begun { name: path },
            ANSWERED => Record::Answered { name: path },
            kind => return Err(format!("a record is of the unknown kind {kind}")),
        }))
    }

    fn opening(&self) -> Opening {
        let has = |bit: u64| self.argument & bit != 0;
        Opening { created: has(1), truncated: has(2), is_directory: has(4) }
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}
