"""Find the files, symbols and errors that a prompt names.

Invariant: paths are kept as written, wherever they lead; the plan decides which may be read. There is one pass over
the text per pattern, and every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from upbeat.core.prompt.analysis import Targets
from upbeat.core.prompt.phrases import words
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, MaskedPrompt, SpanKind
from upbeat.core.prompt.stack_traces import parse_stack_frames
from upbeat.core.prompt.token_shapes import (
    CODE_EXTENSIONS,
    DATA_EXTENSIONS,
    FILES_WITHOUT_EXTENSION,
    MentionKind,
    recognize_name,
)

MAX_NAMES_PER_KIND = 10
MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the prompt's text from ``start`` to ``end``; ``span_kind`` is None in the user's own prose."""

    kind: MentionKind
    name: str
    start: int
    end: int
    weight: int
    span_kind: SpanKind | None = None


_NAME_RUN = re.compile(
    r"(?:(?<![A-Za-z0-9_])[A-Za-z]:[\\/]|(?:\.{1,2}|~)?[/\\]{1,2}|(?:\.\.[/\\]){1,20}|[.@#$]{1,2})?"
    r"[A-Za-z0-9_]\w{0,200}(?:(?:[.@~+\\/-]{1,4}|::|->|\#)[\w\[\]]{1,200}){0,60}[/\\]?"
    r"|[\u3040-\u30ff\u4e00-\u9fff][\u3040-\u30ff\u4e00-\u9fff0-9_-]{0,60}\.[A-Za-z0-9]{1,8}(?![A-Za-z0-9_.])"
)
_CHINESE_REQUEST_PREFIX = re.compile(
    r"(?:请|請|帮我|幫我|看看|看一下|打开|打開|修复|修復|修改|解释|解釋|检查|檢查|优化|優化|重构|重構|运行|執行|执行|删除|刪除|把|给|給)+(?=\w)"
)
_ORDINARY_WORDS = re.compile(r"(?:(?!\w{0,9}file\b)[A-Za-z]?[a-z]*+(?:[ ,;!?\n]|\.(?=\s))++)*+")
"""A run of ordinary words; most prompts are little else. Names like Dockerfile are not ordinary."""
_ERROR_MESSAGE = re.compile(
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
_NON_NAMES = words("non_name")
_SPACED_PATH = re.compile(r"[^\n*?<>|]{1,190}\.([A-Za-z0-9]{1,10})")
_NOT_IN_PATHS = words("not_in_path")


def find_mentions(masked: MaskedPrompt) -> tuple[Mention, ...]:
    """Return everything the prompt names, in order of appearance; an error message may contain further mentions."""
    mentions = [*_find_quoted_names(masked), *_find_definitions(masked), *_find_names(masked.text)]
    for match in (*_NAMED_ZH.finditer(masked.prose), *_NAMED_EN.finditer(masked.prose)):
        group = match.lastindex or 0  # plain words that the sentence calls a function, a class or a module
        if match.re is _NAMED_ZH or match[group].lower() not in _NON_NAMES:
            mentions.append(Mention(MentionKind.SYMBOL, match[group], match.start(group), match.end(group), 1))
    mentions.sort(key=lambda mention: (mention.start, -mention.end))
    separate: list[Mention] = []
    for mention in _with_span_kinds(mentions, masked):
        if not separate or mention.start >= separate[-1].end:
            separate.append(mention)
    errors = [(match[0].rstrip(), match.start()) for match in _ERROR_MESSAGE.finditer(masked.text)]
    separate += _with_span_kinds(
        [Mention(MentionKind.ERROR, text, start, start + len(text), 4) for text, start in errors], masked
    )
    return tuple(sorted(separate, key=lambda mention: (mention.start, mention.end)))


def collect_targets(mentions: Iterable[Mention], text: str = "") -> Targets:
    """Return the first ten names of each kind, the user's own symbols before pasted ones.

    ``text`` is the text of the mentions; its stack traces are parsed for frames.
    """
    names: dict[MentionKind, list[str]] = {kind: [] for kind in MentionKind}
    for mention in sorted(
        mentions, key=lambda mention: mention.kind is MentionKind.SYMBOL and mention.span_kind in PASTED_KINDS
    ):
        name = mention.name[:MAX_NAME_LENGTH].strip()
        known = names[mention.kind]
        if name not in known and len(known) < MAX_NAMES_PER_KIND:
            known.append(name)
    frames = tuple(str(frame)[:MAX_NAME_LENGTH] for frame in parse_stack_frames(text)[:MAX_NAMES_PER_KIND])
    return Targets(
        tuple(names[MentionKind.FILE]), tuple(names[MentionKind.SYMBOL]), tuple(names[MentionKind.ERROR]), frames
    )


def _find_names(text: str) -> Iterator[Mention]:
    """Yield runs of characters with the shape of a path, an identifier or an error name."""
    end = 0
    while (skipped := _ORDINARY_WORDS.match(text, end)) and (match := _NAME_RUN.search(text, skipped.end())):
        end = match.end()
        request = _CHINESE_REQUEST_PREFIX.match(match[0])
        start = match.start() + (request.end() if request else 0)
        name = recognize_name(text[start:end], text[end : end + 90])
        if name:
            end = start + name.length
            yield Mention(name.kind, name.name, start, end, name.weight)
        elif glued := re.search(r"[^\x00-\x7f](?=[A-Za-z_.])", match[0]):
            end = match.start() + glued.end()  # the first character that can begin another run


def _find_quoted_names(masked: MaskedPrompt) -> Iterator[Mention]:
    """Yield identifiers in backticks, and paths with spaces in quotation marks or backticks."""
    for span in masked.spans:
        if span.kind not in (SpanKind.INLINE, SpanKind.QUOTE):
            continue
        body = masked.text[span.start + 1 : span.end - 1]
        if " " in body and _is_spaced_path(body):
            yield Mention(MentionKind.FILE, body, span.start, span.end, 4)
        elif (
            span.kind is SpanKind.INLINE
            and re.fullmatch(r"[A-Za-z_$@][\w$]{1,80}", body)
            and body not in FILES_WITHOUT_EXTENSION
        ):
            name = recognize_name(body, "")
            yield Mention(name.kind if name else MentionKind.SYMBOL, body.lstrip("@"), span.start, span.end, 3)


def _is_spaced_path(body: str) -> bool:
    match = _SPACED_PATH.fullmatch(body)
    if not match or match[1].lower() not in CODE_EXTENSIONS | DATA_EXTENSIONS:
        return False
    return not _NOT_IN_PATHS & set(re.split(r"[\s/\\]+", body.lower()))


def _find_definitions(masked: MaskedPrompt) -> Iterator[Mention]:
    """Yield names that pasted code defines or a stack trace contains; only the paste itself has a weight."""
    for span in masked.spans:
        if span.kind in PASTED_KINDS:
            for match in _DEFINITION.finditer(masked.text, span.start, span.end):
                yield Mention(MentionKind.SYMBOL, match[1].rstrip("."), match.start(1), match.end(1), 0)


def _with_span_kinds(mentions: Iterable[Mention], masked: MaskedPrompt) -> Iterator[Mention]:
    """Yield the mentions with the kind of their span, without those in URLs and symbols that pasted code only uses."""
    spans = masked.spans
    index = 0
    for mention in mentions:
        while index < len(spans) and spans[index].end <= mention.start:
            index += 1
        span_kind = spans[index].kind if index < len(spans) and spans[index].start <= mention.start else None
        is_use = mention.kind is MentionKind.SYMBOL and mention.weight > 0
        if span_kind is not SpanKind.URL and not (is_use and span_kind in (SpanKind.FENCE, SpanKind.SOURCE)):
            yield replace(mention, span_kind=span_kind)
