//! The answer of a server: a vector for each text.

use serde::Deserialize;
use serde_json::value::RawValue;

use utterd_engine::models::llm::LlmError;

/// The part of an answer that is needed here.
#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// The index of its text; if a server leaves it out, the embeddings are in the order of the texts.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Returns the vectors of `count` texts, in the order of the texts.
pub(super) fn vectors(
    body: &RawValue,
    count: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vec<f32>>, LlmError> {
    let answer = serde_json::from_str::<Answer>(body.get());
    let data = answer.map_err(|error| unusable(format!("it holds no embeddings: {error}")))?.data;
    if data.len() != count {
        return Err(unusable(format!("it holds {} embeddings for {count} texts", data.len())));
    }
    let dimensions = dimensions.or_else(|| Some(data.first()?.embedding.len())).unwrap_or_default();
    let mut vectors = vec![Vec::new(); count];
    for (place, Embedding { index, embedding }) in data.into_iter().enumerate() {
        let vector = vectors.get_mut(index.unwrap_or(place)).filter(|vector| vector.is_empty());
        let vector = vector.ok_or_else(|| unusable("its indexes do not match the texts".into()))?;
        *vector = checked(embedding, dimensions)?;
    }
    Ok(vectors)
}

fn checked(embedding: Vec<f32>, dimensions: usize) -> Result<Vec<f32>, LlmError> {
    let found = embedding.len();
    if found != dimensions || found == 0 {
        return Err(unusable(format!("an embedding has {found} values, not {dimensions}")));
    }
    match embedding.iter().all(|value| value.is_finite()) {
        true => Ok(embedding),
        false => Err(unusable("an embedding has values that are not numbers".into())),
    }
}

fn unusable(why: String) -> LlmError {
    LlmError::Unusable(why)
}
