//! Page tokens: the place where the next page of a query starts (AIP-158).

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use prost::Message;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use utterd_domain::{Reason, Refusal, Sequence};

/// Identifies a query: a hash of the method's name and the request without its page fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryHash(u64);

impl QueryHash {
    /// Returns the hash of `request`, from which the caller has removed the page token and the page size.
    /// Requests of different methods can have the same bytes, so the method's name `rpc` is part of the hash.
    pub fn of(rpc: &str, request: &impl Message) -> Self {
        Self(xxh3_64_with_seed(&request.encode_to_vec(), xxh3_64(rpc.as_bytes())))
    }
}

/// Writes the token of the next page.
pub fn write(query: QueryHash, place: &[&dyn std::fmt::Display]) -> String {
    let place: Vec<String> = place.iter().map(ToString::to_string).collect();
    BASE64.encode(format!("{:x}/{}", query.0, place.join("/")))
}

/// Reads a token; `None` if it is empty.
///
/// Refuses a text that is not a token, and a token of another query.
pub fn read(token: &str, query: QueryHash) -> Result<Option<Place>, Refusal> {
    if token.is_empty() {
        return Ok(None);
    }
    let text =
        BASE64.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(no_token)?;
    let (hash, place) = text.split_once('/').ok_or_else(no_token)?;
    match u64::from_str_radix(hash, 16) {
        Ok(hash) if hash == query.0 => Ok(Some(Place(place.to_owned()))),
        Ok(_) => Err(refuse(
            "belongs to another query; accepted: a token of this one, with every other field unchanged",
        )),
        Err(_) => Err(no_token()),
    }
}

/// The place where a page starts.
#[derive(Clone, Debug)]
pub struct Place(String);

impl Place {
    /// Reads a place that is one number.
    pub fn number<T: std::str::FromStr>(&self) -> Result<T, Refusal> {
        self.0.parse().map_err(|_| no_token())
    }

    /// Reads a place that is a number and a rest.
    pub fn pair<T: std::str::FromStr>(&self) -> Result<(T, &str), Refusal> {
        let (number, rest) = self.0.split_once('/').ok_or_else(no_token)?;
        Ok((number.parse().map_err(|_| no_token())?, rest))
    }

    /// Reads a place that is a first and a last sequence.
    pub fn sequences(&self) -> Result<(Sequence, Sequence), Refusal> {
        let (first, last) = self.pair()?;
        let last = last.parse().map_err(|_| no_token())?;
        // a client can make up a token, so sequences are limited to int64
        let sequence = |number: u64| Sequence(number.min(i64::MAX.unsigned_abs()));
        Ok((sequence(first), sequence(last)))
    }
}

/// Returns the refusal of a text that is not a token.
pub fn no_token() -> Refusal {
    refuse("is not a page token; accepted: a next_page_token of the same query, or none")
}

fn refuse(description: &str) -> Refusal {
    Refusal::field(Reason::InvalidPageToken, "page_token", description)
}
