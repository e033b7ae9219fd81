//! Does what a refusal asks: gives what is missing, and removes what is wrong.

use prost_reflect::{DynamicMessage, Kind, ReflectMessage, Value};

use crate::maker::Maker;

/// Changes the field at `path`, such as `utterances[2].content`, in the first request that has it; returns
/// whether there is one.
pub fn mend(requests: &mut [DynamicMessage], path: &str, maker: &mut Maker) -> bool {
    let steps: Vec<Step<'_>> = path.split('.').map(Step::of).collect();
    let has = |request: &DynamicMessage| {
        let field = request.descriptor().get_field_by_name(steps[0].name);
        field.is_some_and(|field| request.has_field(&field))
    };
    let place = requests.iter().position(has).unwrap_or(0);
    requests.get_mut(place).is_some_and(|request| change(request, &steps, maker))
}

/// A field, and the item meant if it is a list.
struct Step<'a> {
    name: &'a str,
    item: Option<usize>,
}

impl<'a> Step<'a> {
    fn of(text: &'a str) -> Self {
        let (name, rest) = text.split_once('[').unwrap_or((text, ""));
        Self { name, item: rest.strip_suffix(']').and_then(|item| item.parse().ok()) }
    }
}

fn change(message: &mut DynamicMessage, steps: &[Step<'_>], maker: &mut Maker) -> bool {
    let [step, rest @ ..] = steps else { return false };
    let Some(field) = message.descriptor().get_field_by_name(step.name) else { return false };
    if !message.has_field(&field) {
        let value = maker.value(&field, 1);
        message.set_field(&field, value);
        return true;
    }
    let goes_on = !rest.is_empty() && !field.is_map() && matches!(field.kind(), Kind::Message(_));
    match message.get_field_mut(&field) {
        Value::Message(inner) if goes_on => change(inner, rest, maker),
        Value::List(items) if goes_on => match step.item.and_then(|item| items.get_mut(item)) {
            Some(Value::Message(inner)) => change(inner, rest, maker),
            _ => false,
        },
        Value::List(items) if step.item.is_some_and(|item| item < items.len()) && items.len() > 1 => {
            items.remove(step.item.unwrap_or(0));
            true
        }
        _ => {
            message.clear_field(&field);
            true
        }
    }
}
