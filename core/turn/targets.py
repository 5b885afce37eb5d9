"""Finds the files, symbols and errors that a prompt names.

Law: paths are kept as they are written, wherever they lead; the plan decides what may be looked at.
One pass over the text per pattern, every repetition bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..texts.phrases import words
from .mask import PASTED, Masked, Voice
from .reading import Targets
from .shapes import BARE_FILES, CODE_EXTENSIONS, DATA_EXTENSIONS, Kind, shape_of
from .traces import read_frames

MOST = 10
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing that is named in the prompt's text from ``start`` to ``end``; ``voice`` is None in own prose."""

    kind: Kind
    name: str
    start: int
    end: int
    weight: int
    voice: Voice | None = None


_RUN = re.compile(
    r"(?:(?<![A-Za-z0-9_])[A-Za-z]:[\\/]|(?:\.{1,2}|~)?[/\\]{1,2}|(?:\.\.[/\\]){1,20}|[.@#$]{1,2})?"
    r"[A-Za-z0-9_]\w{0,200}(?:(?:[.@~+\\/-]{1,4}|::|->|\#)[\w\[\]]{1,200}){0,60}[/\\]?"
    r"|[\u3040-\u30ff\u4e00-\u9fff][\u3040-\u30ff\u4e00-\u9fff0-9_-]{0,60}\.[A-Za-z0-9]{1,8}(?![A-Za-z0-9_.])"
)
_SPOKEN_BEFORE = re.compile(
    r"(?:请|請|帮我|幫我|看看|看一下|打开|打開|修复|修復|修改|解释|解釋|检查|檢查|优化|優化|重构|重構|运行|執行|执行|删除|刪除|把|给|給)+(?=\w)"
)
_ORDINARY = re.compile(r"(?:(?!\w{0,9}file\b)[A-Za-z]?[a-z]*+(?:[ ,;!?\n]|\.(?=\s))++)*+")
"""A stretch of ordinary words; most prompts are little else. Dockerfile and its like are none."""
_MESSAGE = re.compile(
    r"(?<![\w.])(?:(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Warning|Panic)"
    r"|Error|ERROR|(?:error|warning)\[\w{1,20}\]|error TS\d{2,6}|fatal|panic|npm ERR!)"
    r"(?::[ ]?|(?<=!)[ ])(?=\S)[^\n]{2,200}"
)
_DEFINITION = re.compile(
    r"(?:\b(?:def|class|function|func|fn|interface|struct|trait|enum)[ ]{1,4}(?:\([^)\n]{0,60}\)[ ]?)?"
    r"|, in[ ]|^[ \t]{0,40}at[ ](?:async[ ])?)([A-Za-z_][\w$.]{1,80})",
    re.MULTILINE | re.ASCII,
)
_NAMED_ZH = re.compile(
    r"(?<![A-Za-z0-9_./-])([A-Za-z_][A-Za-z0-9_]{1,60})[ ]?"
    r"(?:函数|函數|函式|方法|类(?!似|型|别)|類(?!似|型|別)|类型|模块|模組|接口|介面|组件|元件|变量|變數|服务|服務)"
)
_NAMED_EN = re.compile(
    r"\b(?:(?:the|a|an|my|our)[ ]([A-Za-z_]\w{2,60})[ ](?:function|method|class|struct|interface|decorator)\b"
    r"|(?:function|method|class|struct)[ ](?:called[ ]|named[ ])([A-Za-z_]\w{1,60}))",
    re.ASCII,
)
_NOT_NAMES = words("""
    new old same other main whole entire first second last next current existing helper public private static abstract
    base parent child single simple small big large bug following above below test util utility pure generic python
    javascript java typescript rust wrapper another given recursive async http api json html css sql yoga ballet gym
    middle working ruling dance cooking english maths math history""")
_SPACED_PATH = re.compile(r"[^\n*?<>|]{1,190}\.([A-Za-z0-9]{1,10})")
_NOT_IN_PATHS = words("the in at of and to from for with is a an on by this that fix explain add see open")


def find_mentions(masked: Masked) -> tuple[Mention, ...]:
    """Everything the prompt names, in order of appearance; an error message may hold further mentions."""
    found = [*_asides(masked), *_definitions(masked), *_runs(masked.text), *_named_by_words(masked.prose)]
    found.sort(key=lambda mention: (mention.start, -mention.end))
    apart: list[Mention] = []
    for mention in _spoken(found, masked):
        if not apart or mention.start >= apart[-1].end:
            apart.append(mention)
    apart += _spoken(_messages(masked.text), masked)
    return tuple(sorted(apart, key=lambda mention: (mention.start, mention.end)))


def targets_of(mentions: Iterable[Mention], text: str = "") -> Targets:
    """The mentions as a plan reads them: the first ten of each kind, the user's own symbols before pasted ones.

    ``text`` is what they stand in; its stack traces are read for frames.
    """
    names: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    for mention in sorted(mentions, key=lambda mention: mention.kind is Kind.SYMBOL and mention.voice in PASTED):
        name = mention.name[:LONGEST].strip()
        known = names[mention.kind]
        if name not in known and len(known) < MOST:
            known.append(name)
    frames = tuple(str(frame)[:LONGEST] for frame in read_frames(text)[:MOST])
    return Targets(tuple(names[Kind.FILE]), tuple(names[Kind.SYMBOL]), tuple(names[Kind.ERROR]), frames)


def _runs(text: str) -> Iterator[Mention]:
    """Runs of characters that have the shape of a path, an identifier or an error name."""
    at = 0
    while (skipped := _ORDINARY.match(text, at)) and (found := _RUN.search(text, skipped.end())):
        run, at = found[0], found.end()
        spoken = _SPOKEN_BEFORE.match(run)
        start = found.start() + (spoken.end() if spoken else 0)
        shape = shape_of(text[start:at], text[at : at + 90])
        if shape:
            at = start + shape.length
            yield Mention(shape.kind, shape.name, start, at, shape.weight)
        else:
            at = _past_ordinary(found)


def _past_ordinary(found: re.Match[str]) -> int:
    """Where to go on after a run without a shape: at its first character that can begin another one."""
    glued = re.search(r"[^\x00-\x7f](?=[A-Za-z_.])", found[0])
    return found.start() + glued.end() if glued else found.end()


def _asides(masked: Masked) -> Iterator[Mention]:
    """Backticked identifiers, and paths with spaces between quotation marks or backticks."""
    for span in masked.spans:
        if span.voice not in (Voice.INLINE, Voice.QUOTE):
            continue
        body = masked.text[span.start + 1 : span.end - 1]
        if " " in body and _is_spaced_path(body):
            yield Mention(Kind.FILE, body, span.start, span.end, 4)
        elif span.voice is Voice.INLINE and re.fullmatch(r"[A-Za-z_$@][\w$]{1,80}", body) and body not in BARE_FILES:
            name = shape_of(body, "")
            yield Mention(name.kind if name else Kind.SYMBOL, body.lstrip("@"), span.start, span.end, 3)


def _is_spaced_path(body: str) -> bool:
    found = _SPACED_PATH.fullmatch(body)
    if not found or found[1].lower() not in CODE_EXTENSIONS | DATA_EXTENSIONS:
        return False
    return not _NOT_IN_PATHS & set(re.split(r"[\s/\\]+", body.lower()))


def _messages(text: str) -> Iterator[Mention]:
    """What an error says, from its name to the end of the line."""
    for found in _MESSAGE.finditer(text):
        message = found[0].rstrip()
        yield Mention(Kind.ERROR, message, found.start(), found.start() + len(message), 4)


def _definitions(masked: Masked) -> Iterator[Mention]:
    """Names that pasted code defines or a stack trace passes through; they weigh nothing, the paste itself does."""
    for span in masked.spans:
        if span.voice in PASTED:
            for found in _DEFINITION.finditer(masked.text, span.start, span.end):
                yield Mention(Kind.SYMBOL, found[1].rstrip("."), found.start(1), found.end(1), 0)


def _named_by_words(prose: str) -> Iterator[Mention]:
    """Plain words that the sentence calls a function, a class, a module."""
    for found in _NAMED_ZH.finditer(prose):
        yield Mention(Kind.SYMBOL, found[1], found.start(1), found.end(1), 1)
    for found in _NAMED_EN.finditer(prose):
        group = 1 if found[1] else 2
        if found[group].lower() not in _NOT_NAMES:
            yield Mention(Kind.SYMBOL, found[group], found.start(group), found.end(group), 1)


def _spoken(mentions: Iterable[Mention], masked: Masked) -> Iterator[Mention]:
    """The mentions with the voice that speaks them.

    Of pasted code only what it defines is a symbol, not what it uses.
    """
    spans = masked.spans
    at = 0
    for mention in mentions:
        while at < len(spans) and spans[at].end <= mention.start:
            at += 1
        voice = spans[at].voice if at < len(spans) and spans[at].start <= mention.start else None
        is_used = mention.kind is Kind.SYMBOL and mention.weight > 0
        if voice is Voice.URL or (is_used and voice in (Voice.FENCE, Voice.SOURCE)):
            continue
        yield Mention(mention.kind, mention.name, mention.start, mention.end, mention.weight, voice)
