"""What several dialects share: parts of a message as text, times, exit codes in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

DATA_URI = re.compile(
    r"data:(?:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/=\s]{64,})"
    r"|(image/[\w.+-]+);base64,([A-Za-z0-9+/=]+))"
)
"""Data of any kind, with line breaks in it, if it is long; an image however small it is."""
MOST_DEPTH = 20
"""Parts inside parts are read so far down: what is deeper was made to break a reader."""


def content_text(content: Any, depth: int = 0) -> str:
    """Text of a string or of a list of parts, in whatever vendor's shape; images become a tag."""
    if content is None or depth > MOST_DEPTH:
        return ""
    if isinstance(content, str):
        return without_data_uris(content)
    if isinstance(content, dict):
        return part_text(content, depth)
    if isinstance(content, list):
        return "\n".join(filter(None, (part_text(part, depth) for part in content)))
    return str(content)


def part_text(part: Any, depth: int = 0) -> str:
    if isinstance(part, str):
        return without_data_uris(part)
    if not isinstance(part, dict):
        return ""
    for key in ("text", "output", "refusal"):
        if isinstance(part.get(key), str):
            return without_data_uris(part[key])
    if image := image_tag(part):
        return image
    inner = part.get("content")
    return content_text(inner, depth + 1) if isinstance(inner, (str, list)) else ""


def image_tag(part: dict[str, Any]) -> str:
    """`<image media_type bytes>` for a part that carries data; empty for one that does not."""
    source = part.get("source") or part.get("inlineData") or part.get("inline_data") or part
    if isinstance(source, dict):
        data = source.get("data")
        media = source.get("media_type") or source.get("mimeType") or source.get("mime_type")
        if isinstance(data, str) and (media or part.get("type") in ("image", "input_image")):
            return sized_tag(str(media or "image"), len(data.rstrip("=")))
    for key in ("image_url", "image", "file_data"):
        url = part.get(key)
        if isinstance(url, dict):
            url = url.get("url")
        if isinstance(url, str):
            return without_data_uris(url) if url.startswith("data:") else f"<image {url[:200]}>"
    return ""


def sized_tag(media: str, base64_length: int) -> str:
    return f"<image {media} {base64_length * 3 // 4} bytes>"


def without_data_uris(text: str) -> str:
    """Base64 data in a text replaced by its type and size."""
    if ";base64," not in text:
        return text
    return DATA_URI.sub(_tag_for, text)


def _tag_for(found: re.Match[str]) -> str:
    data = found[2] or found[4]
    return sized_tag(found[1] or found[3], len(data.rstrip("=")))


def iso_time(value: Any) -> str | None:
    """An ISO time from what agents write: ISO text as it is, or epoch seconds or milliseconds."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e14:
        return None
    seconds = value / 1000 if value > 1e11 else value
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(value: str | None) -> datetime | None:
    """The moment of an ISO time; a naive one is taken as UTC, a broken one is None."""
    if not value:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def seconds_between(start: str | None, end: str | None) -> float | None:
    first, last = parse_time(start), parse_time(end)
    return (last - first).total_seconds() if first and last else None


def number_in(pattern: re.Pattern[str], text: str, window: int = 600) -> int | None:
    """The number that a pattern finds near the start or the end of a text, such as an exit code."""
    found = pattern.search(text[:window])
    if found is None and len(text) > window:
        found = pattern.search(text[-window:])
    return int(found[1]) if found else None


def last_number_in(pattern: re.Pattern[str], text: str, window: int = 600) -> int | None:
    """The last number that a pattern finds near the end of a text, else near its start.

    For exit codes that an agent puts after the output: the output may hold one that is older.
    """
    found = pattern.findall(text[-window:]) or pattern.findall(text[:window])
    return int(found[-1]) if found else None
