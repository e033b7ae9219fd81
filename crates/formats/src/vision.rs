//! Pictures in messages, and what they cost: an estimate by the rule that their provider publishes.
//!
//! - OpenAI, <https://platform.openai.com/docs/guides/images-vision#calculating-costs>, for GPT-4o and GPT-4.1: 85
//!   tokens with `detail` `low`; otherwise the picture is scaled down into a square of 2048 pixels, then to a shortest
//!   side of 768, and has 85 tokens and 170 for each tile of 512 pixels.
//! - Anthropic, <https://docs.anthropic.com/en/docs/build-with-claude/vision#calculate-image-costs>: the picture is
//!   scaled down to a longest side of 1568 pixels, and has a token for 750 pixels, at most 1,600.
//! - A picture whose size is not known, because only its address is there, counts as one of 1024 by 1024.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::{Format, texts::kind};
use utterd_domain::context::Image;

/// The size of a picture that does not tell it.
const UNKNOWN: (u32, u32) = (1024, 1024);
/// How much of a picture's base64 is read for its size.
const HEADER_BYTES: usize = 256 << 10;
/// The most that a picture costs with Anthropic.
const MOST_ANTHROPIC: u64 = 1_600;

/// The types of parts, blocks and outputs that are pictures.
const PICTURES: [&str; 4] = ["image_url", "input_image", "image", "computer_screenshot"];
/// The fields of messages, blocks and items that contain others.
const CONTENTS: [&str; 2] = ["content", "output"];

/// A picture, as a part or block of any format has it.
pub struct Picture<'v> {
    /// Its address; `None` if only its provider can open it, or it is inline.
    pub url: Option<&'v str>,
    /// Its media type and base64, if it is inline.
    pub inline: Option<(&'v str, &'v str)>,
    /// How closely OpenAI's models look at it.
    pub detail: Option<&'v str>,
}

impl<'v> Picture<'v> {
    /// The picture that a part or block is; `None` if it is none.
    pub fn of(part: &'v Value) -> Option<Self> {
        if !PICTURES.contains(&kind(part)) {
            return None;
        }
        let (url, source) = (&part["image_url"], &part["source"]);
        let (url, detail) =
            if url.is_object() { (&url["url"], &url["detail"]) } else { (url, &part["detail"]) };
        let url = url.as_str().or(source["url"].as_str());
        let media_type = source["media_type"].as_str().unwrap_or_default();
        let data = source["data"].as_str().map(|data| (media_type, data));
        let is_address = |url: &&str| url.starts_with("https://") || url.starts_with("http://");
        let inline = url.and_then(inline).or(data);
        Some(Self { url: url.filter(is_address), inline, detail: detail.as_str() })
    }

    /// Its tokens by the rule of the provider of `format`.
    fn tokens(&self, format: Format) -> u32 {
        let header = self.inline.and_then(|(_, data)| header(data));
        let size = header.and_then(|header| size(&header)).unwrap_or(UNKNOWN);
        match format {
            Format::Anthropic => anthropic(size),
            _ if self.detail == Some("low") => 85,
            _ => openai(size),
        }
    }
}

/// The tokens of the pictures in `content`, a message, an item or a list of parts or blocks, by the rule of the
/// provider of `format`.
pub fn tokens(content: &Value, format: Format) -> u32 {
    if let Some(picture) = Picture::of(content) {
        return picture.tokens(format);
    }
    let within: Vec<&Value> = match content {
        Value::Array(parts) => parts.iter().collect(),
        Value::Object(fields) => CONTENTS.iter().filter_map(|key| fields.get(*key)).collect(),
        _ => Vec::new(),
    };
    within.into_iter().map(|content| tokens(content, format)).fold(0, u32::saturating_add)
}

/// The media type and the base64 of a `data:` URL.
fn inline(url: &str) -> Option<(&str, &str)> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let media_type = kind.split(';').next().unwrap_or_default();
    (!media_type.is_empty() && !data.is_empty()).then_some((media_type, data))
}

/// The pictures in `content`, with their places in its JSON.
pub fn images(content: &Value, format: Format) -> Vec<Image> {
    let mut found = Vec::new();
    if tokens(content, format) > 0 {
        locate(content, 0, format, &mut found);
    }
    found
}

/// Finds the pictures in `content`, whose JSON begins `at` this byte, and returns where it ends.
fn locate(content: &Value, at: usize, format: Format, found: &mut Vec<Image>) -> usize {
    let end = |value: &Value, at: usize| at + value.to_string().len();
    match (Picture::of(content), content) {
        (Some(picture), _) => {
            let place = at..end(content, at);
            found.push(Image { place: place.clone(), tokens: picture.tokens(format) });
            place.end
        }
        (None, Value::Array(parts)) if !parts.is_empty() => {
            parts.iter().fold(at + 1, |at, part| locate(part, at, format, found) + 1)
        }
        (None, Value::Object(fields)) if !fields.is_empty() => {
            fields.iter().fold(at + 1, |at, (name, value)| {
                let at = end(&name.as_str().into(), at) + 1;
                let contains = CONTENTS.contains(&name.as_str());
                1 + if contains { locate(value, at, format, found) } else { end(value, at) }
            })
        }
        _ => end(content, at),
    }
}

/// Width and height, from the beginning of a picture.
fn size(header: &[u8]) -> Option<(u32, u32)> {
    let size = imagesize::blob_size(header).ok()?;
    let (width, height) = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
    (width > 0 && height > 0).then_some((width, height))
}

/// The beginning of a picture.
fn header(data: &str) -> Option<Vec<u8>> {
    // whole groups of four: the last one may be cut, or padded wrongly
    let end = data.len().min(HEADER_BYTES) & !3;
    STANDARD.decode(data.as_bytes().get(..end)?).ok()
}

fn openai(size: (u32, u32)) -> u32 {
    let (width, height) = scaled((size.0.into(), size.1.into()), u64::max, 2_048);
    let (width, height) = scaled((width, height), u64::min, 768);
    (85 + 170 * width.div_ceil(512) * height.div_ceil(512)) as u32
}

fn anthropic(size: (u32, u32)) -> u32 {
    let (width, height) = scaled((size.0.into(), size.1.into()), u64::max, 1_568);
    (width * height).div_ceil(750).min(MOST_ANTHROPIC) as u32
}

/// `size`, scaled down so that its longer or shorter `side` has at most `most` pixels.
fn scaled((width, height): (u64, u64), side: fn(u64, u64) -> u64, most: u64) -> (u64, u64) {
    let side = side(width, height).max(1);
    let scale = |length: u64| if side > most { (length * most / side).max(1) } else { length };
    (scale(width), scale(height))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pictures_are_found_in_the_json() {
        let picture =
            json!({"type": "image", "source": {"type": "url", "url": "https://example.org/\"é.png"}});
        let result = json!({"type": "tool_result", "input": {"content": picture}, "content": [picture]});
        let content = json!([{"type": "text", "text": "\n", "x": []}, picture, {}, result, [], "é"]);
        let json = content.to_string();
        let images = images(&content, Format::Anthropic);
        let found: Vec<&str> = images.iter().map(|image| &json[image.place.clone()]).collect();
        assert_eq!(found, [picture.to_string(), picture.to_string()]);
        assert_eq!(json[images[1].place.end..].chars().next(), Some(']'), "the one in an input is not shown");
        assert!(images.iter().all(|image| image.tokens == 1_399));
    }

    #[test]
    fn the_size_is_read_from_each_kind_of_header() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 1, 44, 0, 0, 0, 200]].concat();
        let gif = [b"GIF89a".as_slice(), &[44, 1, 200, 0, 0, 0]].concat();
        let frame = [0xFF, 0xC2, 0, 17, 8, 0, 200, 1, 44];
        let jpeg = [&[0xFF, 0xD8, 0xFF, 0xE1, 0, 4, 9, 9, 0xFF, 0xC4, 0, 3, 9][..], &frame].concat();
        let webp = [b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0", &[0, 0, 0, 0, 43, 1, 0, 199, 0, 0][..]].concat();
        for header in [png, gif, jpeg, webp] {
            assert_eq!(size(&header), Some((300, 200)), "{header:?}");
            (0..header.len() - 2).for_each(|end| assert_eq!(size(&header[..end]), None, "up to {end}"));
        }
        assert_eq!(size(b"GIF89a\0\0\x01\0\0\0"), None, "it has no extent");
    }

    /// The examples of OpenAI's documentation, and the tallest and the smallest picture.
    #[test]
    fn openai_counts_tiles() {
        let sizes = [(1024, 1024), (2048, 4096), (4096, 8192), (1, 1), (1, u32::MAX), (768, 2048)];
        assert_eq!(sizes.map(openai), [765, 1_105, 1_105, 255, 765, 1_445]);
    }

    /// The examples of Anthropic's documentation, and pictures that are scaled down.
    #[test]
    fn anthropic_counts_pixels() {
        let sizes = [(200, 200), (1000, 1000), (1092, 1092), (8000, 8000), (3136, 100), (1, u32::MAX)];
        assert_eq!(sizes.map(anthropic), [54, 1_334, 1_590, 1_600, 105, 3]);
    }

    #[test]
    fn each_form_of_a_picture_counts() {
        let gif = STANDARD.encode(b"GIF89a\x2c\x01\xc8\0\0\0");
        let url = format!("data:image/gif;base64,{gif}");
        let source = json!({"type": "base64", "media_type": "image/gif", "data": gif});
        let chat = |url: &str, detail: &str| json!({"type": "image_url", "image_url": {"url": url, "detail": detail}});
        let address = "https://example.org/a.png";
        for (part, format, wanted) in [
            (chat(&url, "high"), Format::OpenAiChat, 255),
            (chat(&url, "low"), Format::OpenAiChat, 85),
            (chat(address, "auto"), Format::OpenAiChat, 765),
            (chat("data:image/png;base64,!", "auto"), Format::OpenAiChat, 765),
            (json!({"type": "input_image", "image_url": url, "detail": "low"}), Format::OpenAiResponses, 85),
            (json!({"type": "input_image", "file_id": "f"}), Format::OpenAiResponses, 765),
            (json!({"type": "image", "source": source}), Format::Anthropic, 80),
            (json!({"type": "image", "source": {"type": "url", "url": address}}), Format::Anthropic, 1_399),
            (json!({"type": "text", "text": url}), Format::Anthropic, 0),
            (json!({"type": "tool_use", "input": {"content": [{"type": "image"}]}}), Format::Anthropic, 0),
        ] {
            assert_eq!(tokens(&part, format), wanted, "{part}");
            let nested = json!([{"role": "user", "content": [part, {"type": "text", "text": "?"}, part]}]);
            assert_eq!(tokens(&nested, format), 2 * wanted, "{nested}");
        }
    }
}
