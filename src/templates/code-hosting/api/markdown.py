"""Markdown as HTML: the part of it that issues and comments are written in.

Headings, lists with their boxes, quotes, code, tables of none: what is not known stays a paragraph.
Whatever the text holds, only these elements come out of it; the rest is escaped.
"""

import html
import re

FENCE = re.compile(r"^(```|~~~)\s*([\w+-]*)")
HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
ITEM = re.compile(r"^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$")
BOX = re.compile(r"^\[([ xX])\]\s+")
RULE = re.compile(r"^(?:-{3,}|\*{3,}|_{3,})$")

#: Inline marks, in the order they are looked for. Code comes first: nothing within it is a mark. Texts
#: are long, and a stranger's: no mark reads on over a place where the next one of its kind may begin.
INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|~~(?P<strike>[^~\n]+)~~"
    r"|(?<![\w*])\*(?P<em>[^*\s][^*\n]*)\*"
    r"|(?<![\w_])_(?P<em2>[^_\s][^_\n]*)_(?!\w)"
    r"|\[(?P<label>[^\[\]\n]+)\]\((?P<target>https?://[^\s)<>\"]+)\)"
    r"|(?P<address>https?://[^\s<>\"]+[^\s<>\".,;:!?)])"
    r"|(?<![\w/@])@(?P<login>[A-Za-z0-9][A-Za-z0-9-]{0,38})"
)

WEB = "https://code.example"


def html_of(text: str) -> str:
    """The HTML of a text, as `body_html` has it."""
    lines = text.replace("\r\n", "\n").split("\n")
    blocks, at = [], 0
    while at < len(lines):
        block, at = _block(lines, at)
        if block:
            blocks.append(block)
    return "\n".join(blocks)


def page_of(path: str, source: str) -> str:
    """The page of a file."""
    article = f'<article class="markdown-body">{html_of(source)}</article>'
    return f'<div id="file" class="md" data-path="{html.escape(path)}">{article}</div>'


def text_of_html(source: str) -> str:
    """The words of an HTML text, as `body_text` has them."""
    return html.unescape(re.sub(r"<[^>]*>", "", source)).strip()


def _block(lines: list[str], at: int) -> tuple[str, int]:
    """The block that begins at a line, and the line after it."""
    line = lines[at]
    fence, heading = FENCE.match(line), HEADING.match(line)
    if not line.strip():
        return "", at + 1
    if fence:
        return _code(lines, at, fence)
    if heading:
        level = len(heading[1])
        return f'<h{level} dir="auto">{_inline(_title(heading[2]))}</h{level}>', at + 1
    if RULE.match(line.strip()):
        return "<hr>", at + 1
    if line.startswith(">"):
        end = _while(lines, at, lambda one: one.startswith(">"))
        inner = "\n".join(one[1:].removeprefix(" ") for one in lines[at:end])
        return f"<blockquote>\n{_paragraph(inner)}\n</blockquote>", end
    if ITEM.match(line):
        return _list(lines, at)
    end = _while(lines, at, _is_prose)
    return _paragraph("\n".join(lines[at : max(end, at + 1)])), max(end, at + 1)


def _title(text: str) -> str:
    """The words of a heading, without the marks that may close it."""
    text = text.rstrip()
    bare = text.rstrip("#")
    return bare.rstrip() if bare != text and bare[-1:].strip() == "" else text


def _while(lines: list[str], at: int, test) -> int:
    while at < len(lines) and test(lines[at]):
        at += 1
    return at


def _is_prose(line: str) -> bool:
    others = (FENCE, HEADING, ITEM)
    return bool(line.strip()) and line[0] != ">" and not any(one.match(line) for one in others)


def _code(lines: list[str], at: int, fence: re.Match[str]) -> tuple[str, int]:
    end = _while(lines, at + 1, lambda one: not one.startswith(fence[1]))
    language = f' lang="{fence[2]}"' if fence[2] else ""
    code = html.escape("\n".join(lines[at + 1 : end]), quote=False)
    return f'<pre{language}><code>{code}\n</code></pre>', end + 1


def _list(lines: list[str], at: int) -> tuple[str, int]:
    end = _while(lines, at, lambda one: bool(ITEM.match(one)))
    items = [ITEM.match(line) for line in lines[at:end]]
    kind = "ol" if items[0] and items[0][1] else "ul"
    shown = "\n".join(_item(match[2]) for match in items if match)
    return f'<{kind} dir="auto">\n{shown}\n</{kind}>', end


def _item(text: str) -> str:
    box = BOX.match(text)
    if box is None:
        return f"<li>{_inline(text)}</li>"
    checked = "" if box[1] == " " else ' checked=""'
    mark = f'<input type="checkbox" disabled=""{checked}>'
    return f"<li>{mark} {_inline(text[box.end() :])}</li>"


def _paragraph(text: str) -> str:
    return '<p dir="auto">' + "<br>\n".join(map(_inline, text.strip().split("\n"))) + "</p>"


def _inline(text: str) -> str:
    shown, at = [], 0
    for match in INLINE.finditer(text):
        shown += [html.escape(text[at : match.start()], quote=False), _mark(match)]
        at = match.end()
    return "".join([*shown, html.escape(text[at:], quote=False)])


def _mark(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    value = html.escape(match[kind], quote=False)
    if kind == "login":
        return f'<a href="{WEB}/{value}">@{value}</a>'
    if kind in ("target", "address"):
        address = html.escape(match[kind])
        label = match["label"] if kind == "target" else match[kind]
        return f'<a href="{address}" rel="nofollow">{html.escape(label, quote=False)}</a>'
    element = {"code": "code", "strong": "strong", "strike": "del"}.get(kind, "em")
    return f"<{element}>{value}</{element}>"
