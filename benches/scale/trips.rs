//! Round trips, read from the messages of PostgreSQL's protocol.

use std::{collections::HashMap, time::Instant};

/// Everything that a connection sends until all of it is answered.
pub struct Trip {
    pub sent: Instant,
    /// `None` until then.
    pub answered: Option<Instant>,
    /// The statements that it runs.
    pub runs: Vec<String>,
    /// Whether it prepares a statement, which a connection does once.
    pub prepares: bool,
    connection: usize,
}

/// One connection.
#[derive(Default)]
pub struct Conversation {
    number: usize,
    asked: Messages,
    answered: Messages,
    is_begun: bool,
    statements: HashMap<Vec<u8>, String>,
    /// The answers that are still to come.
    outstanding: usize,
}

impl Conversation {
    /// A connection with a number of its own.
    pub fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    /// Notes what the client sends.
    pub fn asks(&mut self, bytes: &[u8], now: Instant, log: &mut Vec<Trip>) {
        let mut bytes = bytes;
        if !self.is_begun {
            // the first message has no kind
            let length = u32::from_be_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
            bytes = &bytes[length..];
            self.is_begun = true;
        }
        self.asked.add(bytes);
        while let Some((kind, content)) = self.asked.next() {
            self.ask(kind, &content, now, log);
        }
    }

    fn ask(&mut self, kind: u8, content: &[u8], now: Instant, log: &mut Vec<Trip>) {
        const PASSWORD: u8 = b'p';
        const END: u8 = b'X';
        if matches!(kind, PASSWORD | END) {
            return;
        }
        if self.open(log).is_none() {
            let (connection, runs, prepares) = (self.number, Vec::new(), false);
            log.push(Trip { sent: now, answered: None, runs, prepares, connection });
        }
        let Some(trip) = self.open(log) else { return };
        let mut words = content.split(|byte| *byte == 0);
        let mut word = || words.next().unwrap_or_default();
        match kind {
            b'P' => {
                let (name, text) = (word().to_owned(), String::from_utf8_lossy(word()).into_owned());
                self.statements.insert(name, text);
                trip.prepares = true;
            }
            b'B' => {
                word();
                trip.runs.extend(self.statements.get(word()).cloned());
            }
            b'Q' => {
                trip.runs.push(String::from_utf8_lossy(word()).into_owned());
                self.outstanding += 1;
            }
            b'S' => self.outstanding += 1,
            _ => {}
        }
    }

    /// Notes what the database sends.
    pub fn answers(&mut self, bytes: &[u8], now: Instant, log: &mut [Trip]) {
        self.answered.add(bytes);
        while let Some((kind, _)) = self.answered.next() {
            // it is ready; the first time, nothing was asked
            if kind != b'Z' || self.outstanding == 0 {
                continue;
            }
            self.outstanding -= 1;
            if let (0, Some(trip)) = (self.outstanding, self.open(log)) {
                trip.answered = Some(now);
            }
        }
    }

    /// Its round trip under way.
    fn open<'a>(&self, log: &'a mut [Trip]) -> Option<&'a mut Trip> {
        log.iter_mut().rev().find(|trip| trip.connection == self.number && trip.answered.is_none())
    }
}

/// Messages that come in parts: a kind, a length, and content.
#[derive(Default)]
struct Messages(Vec<u8>);

impl Messages {
    fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let length = u32::from_be_bytes(self.0.get(1..5)?.try_into().ok()?) as usize;
        let content = self.0.get(5..=length)?.to_vec();
        let kind = self.0[0];
        self.0.drain(..=length);
        Some((kind, content))
    }
}
