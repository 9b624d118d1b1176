"""Rich text: the document format of version 3, and the markup that versions before take and answer.

Rows hold documents. Markup becomes one when it is written, and is made of one when it is read, so both
versions of the API see the same text.
"""

import html
import re
from typing import Any

Document = dict[str, Any]

_HEADING = re.compile(r"h([1-6])\. (.*)")
_ITEM = re.compile(r"([*#-]) (.*)")
_FENCE = re.compile(r"\{(code|noformat)(?::([^}]*))?\}(.*)")
_INLINE = re.compile(
    r"\[~accountid:(?P<mention>[^\]]+)\]|\[(?:(?P<label>[^\]|]+)\|)?(?P<url>https?://[^\]\s]+)\]"
    r"|\{\{(?P<code>[^}]+)\}\}|(?<!\w)\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*(?!\w)"
    r"|(?<!\w)_(?P<em>[^_\s](?:[^_]*[^_\s])?)_(?!\w)|(?P<bare>https?://[^\s\]|]+)"
)
_MARKUP = {"strong": "*{}*", "em": "_{}_", "code": "{{{{{}}}}}"}
_TAGS = {"strong": "strong", "em": "em", "code": "code", "strike": "del", "underline": "u"}


def is_document(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "doc"
        and value.get("version") == 1
        and _are_nodes(value.get("content"))
    )


def _are_nodes(nodes: object) -> bool:
    return isinstance(nodes, list) and all(
        isinstance(node, dict)
        and isinstance(node.get("type"), str)
        and (node["type"] != "text" or isinstance(node.get("text"), str))
        and ("content" not in node or _are_nodes(node["content"]))
        and isinstance(node.get("attrs", {}), dict)
        and _are_marks(node.get("marks", []))
        for node in nodes
    )


def _are_marks(marks: object) -> bool:
    return isinstance(marks, list) and all(
        isinstance(mark, dict)
        and isinstance(mark.get("type"), str)
        and isinstance(mark.get("attrs", {}), dict)
        for mark in marks
    )


def _level(heading: Document) -> int:
    level = heading.get("attrs", {}).get("level")
    return level if isinstance(level, int) and 1 <= level <= 6 else 1


def from_markup(text: str) -> Document:
    """The document that a text of version 2 stands for."""
    blocks: list[Document] = []
    paragraph: list[str] = []
    lines = iter(text.replace("\r\n", "\n").split("\n"))

    def close() -> None:
        if paragraph:
            blocks.append({"type": "paragraph", "content": _broken_lines(paragraph)})
            paragraph.clear()

    for line in lines:
        heading, item, fence = _HEADING.match(line), _ITEM.match(line), _FENCE.match(line)
        if fence:
            close()
            blocks.append(_code(fence, lines))
        elif heading:
            close()
            content = _inline(heading[2])
            blocks.append(
                {"type": "heading", "attrs": {"level": int(heading[1])}, "content": content}
            )
        elif line.startswith("bq. "):
            close()
            blocks.append({"type": "blockquote", "content": [_paragraph(line[4:])]})
        elif line.strip() == "----":
            close()
            blocks.append({"type": "rule"})
        elif item:
            close()
            _add_item(blocks, "orderedList" if item[1] == "#" else "bulletList", item[2])
        elif line.strip():
            paragraph.append(line)
        else:
            close()
            # What comes after an empty line is a new list.
            blocks.append({"type": ""})
    close()
    return {"type": "doc", "version": 1, "content": [one for one in blocks if one["type"]]}


def _add_item(blocks: list[Document], kind: str, text: str) -> None:
    if not blocks or blocks[-1]["type"] != kind:
        blocks.append({"type": kind, "content": []})
    blocks[-1]["content"].append({"type": "listItem", "content": [_paragraph(text)]})


def _code(fence: re.Match[str], lines: Any) -> Document:
    """The lines until the fence is closed."""
    end, found = f"{{{fence[1]}}}", []
    rest = fence[3]
    while rest is not None:
        before, closes, _ = rest.partition(end)
        if before or not closes:
            found.append(before)
        if closes:
            break
        rest = next(lines, None)
    text = "\n".join(found).strip("\n")
    content = [{"type": "text", "text": text}] if text else []
    attrs = {"attrs": {"language": fence[2]}} if fence[2] else {}
    return {"type": "codeBlock", **attrs, "content": content}


def _paragraph(text: str) -> Document:
    return {"type": "paragraph", "content": _inline(text)}


def _broken_lines(lines: list[str]) -> list[Document]:
    nodes: list[Document] = []
    for line in lines:
        nodes += [*([{"type": "hardBreak"}] if nodes else []), *_inline(line)]
    return nodes


def _inline(text: str) -> list[Document]:
    nodes: list[Document] = []
    at = 0
    for match in _INLINE.finditer(text):
        if match.start() > at:
            nodes.append({"type": "text", "text": text[at : match.start()]})
        nodes.append(_marked(match))
        at = match.end()
    if at < len(text):
        nodes.append({"type": "text", "text": text[at:]})
    return nodes


def _marked(match: re.Match[str]) -> Document:
    if match["mention"]:
        return {"type": "mention", "attrs": {"id": match["mention"], "text": f"@{match['mention']}"}}
    url = match["url"] or match["bare"]
    if url:
        mark = {"type": "link", "attrs": {"href": url}}
        return {"type": "text", "text": match["label"] or url, "marks": [mark]}
    kind = next(name for name in ("code", "strong", "em") if match[name])
    return {"type": "text", "text": match[kind], "marks": [{"type": kind}]}


def to_markup(document: Document | None) -> str | None:
    """A document as versions before have it."""
    if document is None:
        return None
    return "\n\n".join(_block_markup(block) for block in document.get("content", []))


def _block_markup(block: Document) -> str:
    kind, content = block["type"], block.get("content", [])
    match kind:
        case "heading":
            return f"h{_level(block)}. {_spans(content)}"
        case "bulletList" | "orderedList":
            sign = "*" if kind == "bulletList" else "#"
            return "\n".join(f"{sign} {_flat(item)}" for item in content)
        case "codeBlock":
            language = block.get("attrs", {}).get("language")
            return f"{{code{f':{language}' if language else ''}}}\n{_spans(content)}\n{{code}}"
        case "blockquote":
            return f"bq. {_flat(block)}"
        case "rule":
            return "----"
        case "paragraph":
            return _spans(content)
        case _:
            return _flat(block)


def _flat(block: Document) -> str:
    inner = block.get("content", [])
    is_inline = all(one["type"] in ("text", "hardBreak", "mention", "emoji") for one in inner)
    return _spans(inner) if is_inline else " ".join(_flat(one) for one in inner)


def _spans(nodes: list[Document]) -> str:
    return "".join(_span(node) for node in nodes)


def _span(node: Document) -> str:
    match node["type"]:
        case "text":
            text = node["text"]
            for mark in node.get("marks", []):
                kind, href = mark.get("type"), mark.get("attrs", {}).get("href")
                if kind == "link":
                    text = f"[{text}|{href}]" if text != href else f"[{href}]"
                else:
                    text = _MARKUP.get(kind, "{}").format(text)
            return text
        case "hardBreak":
            return "\n"
        case "mention":
            return f"[~accountid:{node.get('attrs', {}).get('id', '')}]"
        case _:
            return str(node.get("attrs", {}).get("text", ""))


def plain(document: Document | None) -> str:
    """The words of a document, for the search."""
    if document is None:
        return ""
    if document.get("type") == "text":
        return document["text"]
    if document.get("type") == "mention":
        return str(document.get("attrs", {}).get("text", ""))
    glue = "" if document.get("type") in ("paragraph", "heading") else "\n"
    return glue.join(plain(node) for node in document.get("content", []))


def to_html(document: Document | None) -> str:
    """A document as `renderedFields` have it."""
    return "" if document is None else "\n".join(map(_html, document.get("content", [])))


def _html(node: Document) -> str:
    inner = "".join(map(_html, node.get("content", [])))
    match node["type"]:
        case "text":
            text = html.escape(node["text"], quote=False)
            for mark in node.get("marks", []):
                href = html.escape(str(mark.get("attrs", {}).get("href", "")))
                tag = _TAGS.get(mark.get("type"))
                if mark.get("type") == "link":
                    text = f'<a href="{href}" class="external-link" rel="nofollow">{text}</a>'
                elif tag:
                    text = f"<{tag}>{text}</{tag}>"
            return text
        case "hardBreak":
            return "<br/>"
        case "mention":
            return html.escape(str(node.get("attrs", {}).get("text", "")))
        case "heading":
            return f"<h{_level(node)}>{inner}</h{_level(node)}>"
        case "bulletList":
            return f"<ul>{inner}</ul>"
        case "orderedList":
            return f"<ol>{inner}</ol>"
        case "listItem":
            return f"<li>{inner}</li>"
        case "codeBlock":
            return f"<pre>{inner}</pre>"
        case "blockquote":
            return f"<blockquote>{inner}</blockquote>"
        case "rule":
            return "<hr />"
        case _:
            return f"<p>{inner}</p>"
