//! What an SQL or GraphQL statement does, and an HTTP request.

use crate::extractive::effects::{effect::Effect, leaves::Leaf, names::Name};
use crate::phrases::phrases;

/// How much of a statement is read, in bytes.
const STATEMENT_BYTES: usize = 4 << 10;

/// The effect of the statement or HTTP method among a call's arguments.
pub(super) fn by_statement(name: &Name, arguments: &[Leaf<'_>]) -> Option<Effect> {
    by_method(arguments).or_else(|| {
        let runs =
            name.has(&["sql", "query", "execute", "exec", "run", "db", "database", "graphql", "statement"]);
        let texts = arguments.iter().filter(|leaf| leaf.is_text && (runs || is_statement_key(leaf.key)));
        texts.map(Leaf::value).find_map(|text| statement(&text))
    })
}

fn is_statement_key(key: &str) -> bool {
    matches!(key, "sql" | "statement" | "sql_query" | "mutation" | "graphql")
}

fn by_method(arguments: &[Leaf<'_>]) -> Option<Effect> {
    const PLACES: &[&str] = &["url", "uri", "endpoint", "path", "href"];
    let of = |key: &str| arguments.iter().find(|leaf| leaf.depth == 1 && leaf.key.eq_ignore_ascii_case(key));
    let method = of("method").or_else(|| of("http_method")).or_else(|| of("verb"))?;
    let has_place = PLACES.iter().any(|key| of(key).is_some());
    has_place.then(|| self::method(method.raw)).flatten()
}

/// The effect of an HTTP method.
pub(super) fn method(name: &str) -> Option<Effect> {
    match name.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" => Some(Effect::Reads),
        "POST" | "PUT" | "PATCH" | "DELETE" => Some(Effect::Changes),
        _ => None,
    }
}

/// The effect of SQL or GraphQL; `None` for text that is neither.
pub(super) fn statement(text: &str) -> Option<Effect> {
    let text = &text[..text.floor_char_boundary(STATEMENT_BYTES)];
    let effects = text.split(';').filter_map(one).collect::<Vec<_>>();
    effects.iter().find(|effect| **effect == Effect::Changes).or(effects.first()).copied()
}

fn one(statement: &str) -> Option<Effect> {
    let lines = statement.lines().map(|line| line.split("--").next().unwrap_or_default());
    let words =
        lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '{')));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    let has = |word: &str| words.iter().any(|other| other == word);
    let (first, second) = (words.first()?.as_str(), words.get(1).map_or("", String::as_str));
    let changes = match first {
        "insert" | "merge" => second == "into",
        "update" => has("set"),
        "delete" => second == "from",
        "create" | "drop" | "alter" | "truncate" => is_thing(second),
        "replace" => second == "into",
        "grant" | "revoke" => has("on"),
        "with" => has("as") && ["insert", "update", "delete"].iter().any(|word| has(word)),
        "mutation" => statement.contains('{'),
        _ => false,
    };
    let reads = match first {
        "select" => has("from") || words.len() > 1,
        "with" => has("as") && has("select"),
        "explain" | "describe" | "show" | "pragma" | "values" => words.len() > 1,
        "query" | "fragment" => statement.contains('{'),
        _ => statement.trim_start().starts_with('{') && statement.contains('}') && !statement.contains(':'),
    };
    changes.then_some(Effect::Changes).or_else(|| reads.then_some(Effect::Reads))
}

fn is_thing(word: &str) -> bool {
    const THINGS: [&str; 19] = phrases(
        "table|index|unique|view|database|schema|user|role|or|temp|temporary|if|function|trigger|sequence|\
        type|extension|materialized|column",
    );
    THINGS.contains(&word)
}
