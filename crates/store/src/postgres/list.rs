//! Lists of conversations.

use tokio_postgres::{Row, types::ToSql};

use super::{connection::database::Database, types::Time};
use crate::{List, ListOf, Result, entries::span_of};
use utterd_domain::{Timestamp, limits::FEW_NAMES};

pub(super) const HEAD: &str = "id, head AS record, identity, description";

/// The heads of those of the given conversations that exist.
pub(super) const HEADS: &str = "SELECT c.namespace, c.id, c.head AS record, c.identity, c.description
    FROM unnest($1::text[], $2::text[]) AS k(namespace, id) JOIN conversations c USING (namespace, id)";

/// Counts the conversations with an id in a range, up to `$4`.
const NAMED: &str = "SELECT count(*) FROM (
        SELECT FROM conversations WHERE namespace = $1 AND id >= $2 AND ($3::text IS NULL OR id < $3) LIMIT $4
    ) few";

/// A recipient's ended conversations except the last `$3`: at most `$4`, in the order in which they ended.
pub(super) const ENDED_BEYOND: &str = "SELECT id FROM conversations
    WHERE namespace = $1 AND recipient = $2 AND listed AND end_time IS NOT NULL
    ORDER BY end_time, id LIMIT (
        SELECT least(greatest(count(*) - $3, 0), $4) FROM conversations
        WHERE namespace = $1 AND recipient = $2 AND listed AND end_time IS NOT NULL
    )";

/// Returns these columns of a page of a list.
pub(super) async fn page(database: &Database, list: &List, columns: &str) -> Result<Vec<Row>> {
    let mut connection = database.connection().await?;
    let namespace = list.of.namespace().as_str();
    let (from, to) = (&*list.id_prefix, behind(&list.id_prefix));
    let few = FEW_NAMES as i64 + 1;
    let is_few = !from.is_empty() && {
        let params: [&(dyn ToSql + Sync); 4] = [&namespace, &from, &to, &few];
        let rows = connection.query(NAMED, &params).await?;
        rows.iter().all(|row| row.get::<_, i64>(0) < few)
    };
    let recipient = match &list.of {
        ListOf::Namespace(_) => None,
        ListOf::Recipient(recipient) => Some(recipient.id.as_str()),
    };
    let sql = select(list, columns, is_few);
    let (time, id) = place(list);
    let span = span_of(time);
    let limit = list.limit as i64;
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![&namespace, &from, &to, &limit];
    let (time, span) = (Time(time), Time(span));
    params.extend([&time as &(dyn ToSql + Sync), &id]);
    if let Some(recipient) = &recipient {
        params.push(recipient);
    }
    if list.order.by_update {
        params.push(&span);
    }
    connection.query(&sql, &params).await
}

/// Returns the statement for a page. If few conversations have the prefix, the statement finds them by id, and
/// otherwise by their place in the list.
fn select(list: &List, columns: &str, is_few: bool) -> String {
    let (compare, direction) = if list.order.newest_first { ("<", "DESC") } else { (">", "ASC") };
    let recipient = if matches!(list.of, ListOf::Recipient(_)) { "AND recipient = $7" } else { "" };
    let span = if recipient.is_empty() { "$7" } else { "$8" };
    let (place, given) = match list.order.by_update {
        true => (["update_span", "update_time", "id"].as_slice(), format!("({span}, $5, $6)")),
        false => (["start_time", "id"].as_slice(), "($5, $6)".to_owned()),
    };
    let order: Vec<_> = place.iter().map(|column| format!("{column} {direction}")).collect();
    let (place, order) = (place.join(", "), order.join(", "));
    let named = "namespace = $1 AND id >= $2 AND ($3::text IS NULL OR id < $3)";
    let source = match is_few {
        true => format!("(SELECT * FROM conversations WHERE {named} OFFSET 0) AS named"),
        false => "conversations".to_owned(),
    };
    format!(
        "SELECT {columns} FROM {source} WHERE {named} AND listed {recipient}
            AND ({place}) {compare} {given} ORDER BY {order} LIMIT $4"
    )
}

/// Returns the place behind which a page starts: without a given place, the start of the list.
fn place(list: &List) -> (Timestamp, String) {
    match &list.after {
        Some((time, id)) => (*time, id.as_str().to_owned()),
        None if list.order.newest_first => (Timestamp(i64::MAX), String::new()),
        None => (Timestamp(i64::MIN), String::new()),
    }
}

/// Returns the first text behind all texts that begin with `prefix`; `None` if there is none.
fn behind(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        // the code points in between are surrogates, not characters
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_prefix_is_behind_all_that_begin_with_it() {
        for (prefix, expected) in [
            ("a", Some("b")),
            ("az", Some("a{")),
            ("a\u{d7ff}", Some("a\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            assert_eq!(behind(prefix).as_deref(), expected, "{prefix:?}");
        }
    }
}
