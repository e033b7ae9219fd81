//! Pages of lists, and their tokens: the place where the next page of a query starts (AIP-158).

use std::str::FromStr;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use prost::Message;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use utterd_domain::{Reason, Refusal, Sequence};

/// The page of a list that a request asks for.
pub struct Page {
    /// Identifies the query: a hash of the method's name and the request without its page fields.
    query: u64,
    /// Where the page starts, if it is not the first.
    place: Option<String>,
    /// The most entries on it.
    pub limit: usize,
}

/// Takes the page that a request asks for out of it.
macro_rules! page_of {
    ($rpc:literal, $request:expr, $sizes:expr) => {{
        let size = std::mem::take(&mut $request.page_size);
        let token = std::mem::take(&mut $request.page_token);
        $crate::convert::page_token::Page::asked($rpc, &$request, &token, size, $sizes)
    }};
}
pub(crate) use page_of;

impl Page {
    /// The page with this token and size of what `request` asks for; `sizes` are the default and the largest.
    /// Requests of different methods can have the same bytes, so the method's name `rpc` is part of the query.
    ///
    /// Refuses a text that is not a token, and a token of another query.
    pub fn asked(
        rpc: &str,
        request: &impl Message,
        token: &str,
        size: i32,
        sizes: (usize, usize),
    ) -> Result<Self, Refusal> {
        let query = xxh3_64_with_seed(&request.encode_to_vec(), xxh3_64(rpc.as_bytes()));
        let place = if token.is_empty() { None } else { Some(place(token, query)?) };
        Ok(Self { query, place, limit: page_size(size, sizes)? })
    }

    /// Returns the token of the page that starts at `place`.
    pub fn token(&self, place: &[&dyn std::fmt::Display]) -> String {
        let place: Vec<String> = place.iter().map(ToString::to_string).collect();
        BASE64.encode(format!("{:x}/{}", self.query, place.join("/")))
    }

    /// Returns the token of a page from a first to a last sequence; empty if there is none.
    pub fn token_of(&self, rest: Option<(Sequence, Sequence)>) -> String {
        rest.map(|(first, last)| self.token(&[&first, &last])).unwrap_or_default()
    }

    /// Reads a place that is one number.
    pub fn number<T: FromStr>(&self) -> Result<Option<T>, Refusal> {
        self.place.as_ref().map(|place| place.parse().map_err(|_| no_token())).transpose()
    }

    /// Reads a place that is a number and a rest.
    pub fn pair<T: FromStr>(&self) -> Result<Option<(T, &str)>, Refusal> {
        let Some(place) = &self.place else { return Ok(None) };
        let (number, rest) = place.split_once('/').ok_or_else(no_token)?;
        Ok(Some((number.parse().map_err(|_| no_token())?, rest)))
    }

    /// Reads a place that is a first and a last sequence.
    pub fn sequences(&self) -> Result<Option<(Sequence, Sequence)>, Refusal> {
        let Some((first, last)) = self.pair()? else { return Ok(None) };
        let last = last.parse().map_err(|_| no_token())?;
        // a client can make up a token, so sequences are limited to int64
        let sequence = |number: u64| Sequence(number.min(i64::MAX.unsigned_abs()));
        Ok(Some((sequence(first), sequence(last))))
    }
}

/// Reads the place in the token of a query.
fn place(token: &str, query: u64) -> Result<String, Refusal> {
    let text =
        BASE64.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(no_token)?;
    let (hash, place) = text.split_once('/').ok_or_else(no_token)?;
    match u64::from_str_radix(hash, 16) {
        Ok(hash) if hash == query => Ok(place.to_owned()),
        Ok(_) => Err(refuse(
            "belongs to another query; accepted: a token of this one, with every other field unchanged",
        )),
        Err(_) => Err(no_token()),
    }
}

/// Reads a page size: 0 means `default`, more than `most` means `most` (AIP-158).
fn page_size(number: i32, (default, most): (usize, usize)) -> Result<usize, Refusal> {
    match usize::try_from(number) {
        Ok(0) => Ok(default),
        Ok(number) => Ok(number.min(most)),
        Err(_) => Err(Refusal::invalid("page_size", format!("is {number}; accepted: 0 or more"))),
    }
}

/// Returns the refusal of a text that is not a token.
pub fn no_token() -> Refusal {
    refuse("is not a page token; accepted: a next_page_token of the same query, or none")
}

fn refuse(description: &str) -> Refusal {
    Refusal::field(Reason::InvalidPageToken, "page_token", description)
}
