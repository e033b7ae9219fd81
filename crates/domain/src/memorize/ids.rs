//! The ids that callers give to what they memorize.

use std::collections::{HashMap, HashSet};

use crate::{Conversation, Draft, Ranges, Reason, Refusal, Sequence, Undecided, change::Context};

/// The utterances, except those in `gone`, that already have the ids of drafts; by the draft's index.
///
/// Refuses ids that are taken, unless `upsert` is set. Always refuses an id of the server's form that names
/// nothing stored, and an id that is given twice.
pub(super) fn known(
    before: &Conversation,
    drafts: &[Draft],
    upsert: bool,
    gone: &Ranges,
    context: &Context<'_>,
) -> Result<HashMap<usize, Sequence>, Undecided> {
    let given = || drafts.iter().filter_map(|draft| draft.id.clone());
    if given().next().is_none() {
        return Ok(HashMap::new());
    }
    let archived = match before.head.archived.is_empty() {
        true => None,
        false => Some(context.loaded.ids(|| given().collect())?),
    };
    let (mut batch, mut known) = (HashSet::new(), HashMap::new());
    for (index, draft) in drafts.iter().enumerate() {
        let Some(id) = &draft.id else { continue };
        let field = || format!("utterances[{index}].utterance_id");
        let named = match before.head.assigned(id) {
            Some(sequence) if upsert && before.stores(sequence) && !gone.contains(sequence) => Some(sequence),
            Some(_) => {
                let text = "looks like an id that the server makes for this conversation";
                return Err(Refusal::id(field(), text).into());
            }
            None => before.window.given(id).or_else(|| archived?.get(id).copied()),
        };
        let named = named.filter(|sequence| !gone.contains(*sequence));
        if !batch.insert(id) || (named.is_some() && !upsert) {
            let text = format!("{id:?} already names an utterance of this conversation");
            return Err(Refusal::field(Reason::UtteranceExists, field(), text).into());
        }
        known.extend(named.map(|sequence| (index, sequence)));
    }
    Ok(known)
}
