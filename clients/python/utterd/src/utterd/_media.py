"""Pictures, documents, sounds and films in messages, in the forms of both providers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

DATA_URL = re.compile(r"data:([^;,]*)[^,]*;base64,")


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, document, sound or film: its data, or where it is."""

    type: str
    """Its media type, such as `image/png`, or `image/*` if more is not known."""
    data: str = ""
    """In base64."""
    url: str = ""
    name: str = ""
    detail: str = ""
    """How closely a model looks at a picture, in OpenAI's format only."""

    @property
    def kind(self) -> str:
        """`image`, `audio`, `video`, or else `document`."""
        kind = self.type.partition("/")[0]
        return kind if kind in ("image", "audio", "video") else "document"

    @classmethod
    def at(cls, url: str, type: str, **more: str) -> Media:
        """What is at a URL, or in one that begins with `data:`; `type` unless the URL has one."""
        if inline := DATA_URL.match(url):
            return cls(inline[1] or type, data=url[inline.end() :], **more)
        return cls(type, url=url, **more)

    @property
    def uri(self) -> str:
        """Its URL, with the data in it if there is no other."""
        return f"data:{self.type};base64,{self.data}" if self.data else self.url

    def block(self) -> dict[str, Any]:
        """A block of Anthropic's. What is not a picture is a document there, with its media type."""
        source = {"type": "base64", "media_type": self.type, "data": self.data}
        if not self.data:
            plain = self.kind == "image" or self.type == "application/pdf"
            source = {"type": "url", "url": self.url} | ({} if plain else {"media_type": self.type})
        title = {"title": self.name} if self.name and self.kind != "image" else {}
        return {"type": "image" if self.kind == "image" else "document", "source": source, **title}

    def part(self) -> dict[str, Any]:
        """A part of OpenAI's chat."""
        url = self.uri
        if self.kind == "image":
            return {"type": "image_url", "image_url": {"url": url} | ({"detail": self.detail} if self.detail else {})}
        if self.data and self.type in ("audio/wav", "audio/mp3"):
            return {"type": "input_audio", "input_audio": {"data": self.data, "format": self.type[6:]}}
        return {"type": "file", "file": {"file_data": url, "filename": self.name or self.kind}}


def media_of(block: dict[str, Any]) -> Media | None:
    """What a provider's block or part shows; None if that is text, or known by an id alone."""
    kind = block.get("type")
    if kind in ("image", "document") and (source := block.get("source")):
        type = source.get("media_type") or ("image/*" if kind == "image" else "application/pdf")
        if source.get("type") == "base64":
            return Media(type, data=source["data"], name=block.get("title") or "")
        return Media(type, url=source["url"], name=block.get("title") or "") if "url" in source else None
    if kind == "image_url":
        return Media.at(block["image_url"]["url"], "image/*", detail=block["image_url"].get("detail") or "")
    if kind == "input_audio":
        return Media(f"audio/{block['input_audio']['format']}", data=block["input_audio"]["data"])
    if kind == "file" and "file_data" in block.get("file", {}):
        return Media.at(block["file"]["file_data"], "application/pdf", name=block["file"].get("filename") or "")
    return None
