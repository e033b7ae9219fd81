"""What adapters read from messages that other programs stored."""

from utterd._blocks import blocks_of

IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}


def test_a_text_is_one_block():
    assert blocks_of({"role": "user", "content": "hi"}) == [{"type": "text", "text": "hi"}]


def test_images_are_named_and_thinking_is_left_out():
    thinking = {"type": "thinking", "thinking": "it is a pump", "signature": "c2lnbmVk"}
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    assert blocks_of({"role": "user", "content": [IMAGE, thinking, call]}) == [
        {"type": "text", "text": "[image]"},
        call,
    ]
    result = {"type": "tool_result", "tool_use_id": "a", "is_error": True}
    content = [{"type": "text", "text": "blurred"}, IMAGE]
    assert blocks_of({"role": "user", "content": [{**result, "content": content}]}) == [
        {**result, "content": "blurred\n[image]"}
    ]
    assert blocks_of({"role": "user", "content": [result]}) == [result]
