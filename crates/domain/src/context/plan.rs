//! The plan of a context: what is known before it is put together.

use std::{borrow::Cow, ops::Range, sync::Arc};

use crate::{
    Conversation, Ranges, Role, TokenCounter, Window,
    context::{
        Archived, Format, How, Message, Omission, Request,
        cut::enough,
        message::tokens_of,
        omitted::Omitted,
        text::HEADING,
        turns,
        unit::{Rendering, Trims, Unit, before},
        wording::{Costs, OPENING},
    },
};

/// A budget so large that nothing is cut, but sums of it do not overflow.
const UNLIMITED: u64 = (u32::MAX as u64) << 16;

/// What is known before anything is rendered.
pub(super) struct Plan<'a> {
    pub(super) conversation: &'a Conversation,
    /// The window, with what the archive adds.
    window: Cow<'a, Window>,
    /// What left the window and is not in [`Plan::window`].
    left: Arc<Ranges>,
    pub(super) archived: Archived<'a>,
    pub(super) request: &'a Request,
    pub(super) rendering: Rendering<'a>,
    pub(super) budget: u64,
    /// The instructions that the caller gave.
    pub(super) given: Option<Message>,
    /// The first place after the instructions.
    pub(super) floor: usize,
    /// The first place of the turns asked for, not before the floor.
    pub(super) first: usize,
}

/// How a context begins.
#[derive(Debug)]
pub(super) struct Opening {
    /// The user utterance of the turn in whose middle the recent units begin.
    pub(super) lead: Option<Message>,
    /// Whether it begins with a user's utterance, or as the conversation does.
    pub(super) is_users: bool,
    /// What `lead` counts as, or the cost of the words before what would otherwise begin with the assistant.
    pub(super) tokens: u64,
    /// The same in the smallest context that keeps enough, where `lead` has less room.
    pub(super) least: u64,
}

/// What precedes a unit, and its tokens.
#[derive(Debug, Default)]
pub(super) struct Need {
    lead: Option<Message>,
    pub(super) whole: u64,
}

impl<'a> Plan<'a> {
    pub(super) fn of(
        conversation: &'a Conversation,
        mut archived: Archived<'a>,
        request: &'a Request,
        counter: &'a dyn TokenCounter,
    ) -> Self {
        let window = match archived.turns {
            [] => Cow::Borrowed(&conversation.window),
            turns => Cow::Owned(conversation.window.with(turns)),
        };
        let mut left = conversation.head.left.clone();
        if let Some(first) = archived.turns.first() {
            let shown = archived.turns.iter().map(|utterance| utterance.sequence).collect();
            Arc::make_mut(&mut left).subtract(&shown);
            let away = archived.pinned.partition_point(|pinned| pinned.sequence < first.sequence);
            archived.pinned = &archived.pinned[..away];
        }
        let floor = window.iter().take_while(|utterance| utterance.instruction).count();
        let most = request.most_turns(&conversation.head.policy);
        let first = most.map_or(0, |most| turns::cut(&window, most, request.in_steps()));
        let first = unit_start(&window, floor, first.max(floor));
        let rendering = Rendering {
            costs: Costs { format: request.format, counter },
            first_whole_turn: request.first_whole_turn(conversation.head.turn),
            first_turn_with_images: request.first_turn_with_images(conversation.head.turn),
            unanswered: request.unanswered,
            trims: if request.whole_messages { Trims::Results } else { Trims::All },
            parts: archived.content_parts,
            as_stored: request.as_stored && request.format != Format::Text,
        };
        let given = given(request, rendering.costs);
        let default =
            || Some(u64::from(Request::default_budget(conversation)?) + tokens_of(given.as_slice()));
        let budget = request.budget.map(u64::from).or_else(default).unwrap_or(UNLIMITED);
        Self { conversation, window, left, archived, request, rendering, budget, given, floor, first }
    }

    pub(super) fn is_unlimited(&self) -> bool {
        self.budget == UNLIMITED
    }

    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Whether the utterance at `place` of the window comes from the archive.
    pub(super) fn is_archived(&self, place: usize) -> bool {
        let sequence = self.window.at(place).map(|utterance| utterance.sequence);
        sequence.is_some_and(|sequence| self.conversation.head.left.contains(sequence))
    }

    /// The sequences at `places` of the window; they can include some that were hard-forgotten there.
    pub(super) fn sequences(&self, places: Range<usize>) -> Ranges {
        let at = |place: usize| self.window().at(place).map(|utterance| utterance.sequence);
        let ends = at(places.start).zip(places.end.checked_sub(1).and_then(at));
        let mut sequences = ends.map_or_else(Ranges::new, |(first, last)| Ranges::of(first, last));
        sequences.subtract(&self.left);
        sequences
    }

    pub(super) fn instructions(&self, omitted: &mut Omitted) -> Vec<Message> {
        let mut messages = Vec::with_capacity(self.floor + 5);
        messages.extend(self.given.clone());
        for utterance in self.window().slice(0..self.floor) {
            match self.rendering.message(utterance) {
                _ if utterance.forgotten => omitted.add(Omission::Forgotten, utterance.sequence),
                Some(message) => messages.push(Message { how: How::Instruction, ..message }),
                None => omitted.add(Omission::Empty, utterance.sequence),
            }
        }
        messages
    }

    /// The tokens reserved for a heading, or for the opening before pinned units, so that adding one moves nothing
    /// else.
    pub(super) fn opening_room(&self) -> u64 {
        let costs = self.rendering.costs;
        match self.request.format {
            Format::Text => costs.counter.count(HEADING).into(),
            _ if self.window.pinned() > 0 || !self.archived.pinned.is_empty() => self.opening_tokens(),
            Format::OpenAiChat | Format::AnthropicMessages => 0,
        }
    }

    fn opening_tokens(&self) -> u64 {
        self.rendering.costs.of_words(OPENING).into()
    }

    /// How a context begins whose recent units begin with `unit`, after `lead` if there is one, which can have `room`
    /// tokens. Trimmed, it counts as these, as a [unit does](Unit::within).
    pub(super) fn opening(&self, unit: &Unit, mut lead: Option<Message>, room: u64) -> Opening {
        let first = unit.messages.first().map(|first| first.role);
        let by_user = match self.request.format {
            Format::AnthropicMessages => matches!(first, Some(Role::User | Role::System)),
            Format::OpenAiChat | Format::Text => first == Some(Role::User),
        };
        let (tokens, least) = match &mut lead {
            Some(lead) => self.lead_tokens(lead, room),
            None if by_user || first.is_none() || self.request.format == Format::Text => (0, 0),
            None => (self.opening_tokens(), self.opening_tokens()),
        };
        Opening { is_users: by_user || lead.is_some() || unit.turn == 0, tokens, least, lead }
    }

    /// Trims `lead` to `room`. Returns what it counts as, and what it does in the smallest context that keeps enough.
    fn lead_tokens(&self, lead: &mut Message, room: u64) -> (u64, u64) {
        let whole = u64::from(lead.tokens);
        if self.rendering.trims == Trims::Results {
            return (whole, whole);
        }
        self.rendering.trim(lead, room);
        (whole.min(room).max(lead.tokens.into()), whole.min(enough(room)))
    }

    /// The need of what precedes `unit`, if the recent units begin with it.
    pub(super) fn need_before(&self, unit: &Unit) -> Need {
        let lead = self.lead(unit);
        let whole = self.opening(unit, lead.clone(), u64::MAX).tokens;
        Need { lead, whole }
    }

    /// The fewest tokens to which it can be trimmed.
    pub(super) fn least(&self, need: &Need) -> u64 {
        let least = |lead| self.rendering.least_of(lead, self.rendering.trims);
        need.lead.as_ref().map_or(need.whole, least)
    }

    /// Whether it fits into `room` beside so many tokens, trimmed if necessary: seldom, and then it takes long to tell.
    pub(super) fn fits(&self, need: &Need, beside: u64, room: u64) -> bool {
        need.whole + beside <= room || self.least(need) + beside <= room
    }

    /// Renders units, newest first, up to the first that has a message. What the archive adds need not be rendered:
    /// it would take the room of what is recalled.
    pub(super) fn newest(&self) -> Vec<Unit> {
        let (mut units, mut end) = (Vec::new(), self.window().len());
        while let Some(places) = before(self.window(), self.first, end) {
            end = places.start;
            if self.is_archived(end) {
                break;
            }
            let unit = self.rendering.unit(self.window(), places);
            let found = !unit.messages.is_empty();
            units.push(unit);
            if found {
                break;
            }
        }
        units
    }

    /// The user utterance that started the turn in whose middle `unit` is.
    pub(super) fn lead(&self, unit: &Unit) -> Option<Message> {
        let start = turns::start_of(self.window(), unit.turn);
        let first = self.window().at(start).filter(|_| unit.turn > 0)?;
        let lead = match first.role {
            Role::User => Some(first).filter(|_| (self.first..unit.places.start).contains(&start)),
            _ => self.archived.asked.filter(|asked| asked.turn == unit.turn),
        };
        lead.filter(|lead| lead.is_live()).and_then(|lead| self.rendering.message(lead))
    }
}

fn given(request: &Request, costs: Costs<'_>) -> Option<Message> {
    let text = request.instructions.as_deref().filter(|text| !text.trim().is_empty())?;
    Some(Message::own(Role::System, How::Given, text.to_owned(), costs.of_words(text)))
}

/// The start of the unit at `place`, not before `floor`.
fn unit_start(window: &Window, floor: usize, mut place: usize) -> usize {
    let unit = |place: usize| window.at(place).map(|utterance| utterance.unit);
    while place > floor && unit(place).is_some() && unit(place - 1) == unit(place) {
        place -= 1;
    }
    place
}
