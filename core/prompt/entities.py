"""Find what a prompt names: files, symbols and errors in its text, and the frames of its stack traces.

Invariants: paths are kept as written, wherever they lead; the plan decides which may be read. The shape of a word
decides what it is; the word lists only exclude ordinary names (node.js, example.com, YouTube) and set the weight.
There is one pass over the text per pattern, and every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from upbeat.core.package_data import load_rows
from upbeat.core.prompt.analysis import Targets
from upbeat.core.prompt.phrases import words
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, MaskedPrompt, SpanKind

MAX_NAMES_PER_KIND = 10
MAX_NAME_LENGTH = 200
CERTAIN_WEIGHT = 3
"""The weight from which on a name or a phrase is certainly about code."""


class MentionKind(StrEnum):
    """The kind of thing that a mention names."""

    FILE = "file"
    SYMBOL = "symbol"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the prompt's text from ``start`` to ``end``; ``span_kind`` is None in the user's own prose.

    ``weight``: 0 is no evidence, 1 may be prose, 2 probably not, 3 and 4 surely not.
    """

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
FILE_URL = re.compile(
    r"https?://[^\s/]+/\S+?/(?:blob|raw|tree|src|edit|blame)/[^\s/]+/(?P<path>[^\s#?\"'<>)\]`，。；、）]+)"
)
"""The URL of a file in a repository's web view; the path follows the name of a branch, tag or commit."""
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
    mentions = list(_find_quoted_names(masked))
    mentions += [  # names that pasted code defines or a stack trace contains; only the paste itself has a weight
        Mention(MentionKind.SYMBOL, match[1].rstrip("."), match.start(1), match.end(1), 0)
        for span in masked.spans
        if span.kind in PASTED_KINDS
        for match in _DEFINITION.finditer(masked.text, span.start, span.end)
    ]
    mentions += _find_names(masked.text)
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
    frames = parse_stack_frames(text)[:MAX_NAMES_PER_KIND] if _LINE_NUMBER.search(text) else ()
    return Targets(
        files=tuple(names[MentionKind.FILE]),
        symbols=tuple(names[MentionKind.SYMBOL]),
        errors=tuple(names[MentionKind.ERROR]),
        stack_frames=tuple(str(frame)[:MAX_NAME_LENGTH] for frame in frames),
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


# The shape of a word


@dataclass(frozen=True, slots=True)
class RecognizedName:
    """The name in the first ``length`` characters. ``weight``: 1 may be prose, 2 probably not, 3 and 4 surely not."""

    kind: MentionKind
    name: str
    length: int
    weight: int


CODE_EXTENSIONS = words("code_extension")
DATA_EXTENSIONS = words("data_extension")
TEXT_FILES_OF_CODE = words("text_file_of_code")
FILES_WITHOUT_EXTENSION = words("file_without_extension")
ROOT_FOLDERS = words("root_folder")
NON_FILE_NAMES = words("non_file_name")
TOP_LEVEL_DOMAINS = words("top_level_domain")
BRAND_NAMES = words("brand_name")
SURNAME_PREFIXES = tuple(words("surname_prefix"))
CLASS_NAME_SUFFIXES = tuple(words("class_name_suffix"))
COMMON_RECEIVERS = words("common_receiver")
MATH_FUNCTIONS = words("math_function")
ERRNO_NAMES = words("errno_name")

_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11})(?![A-Za-z0-9_/\\-]|\.[A-Za-z0-9_])")
_CALL = re.compile(r"\(([^()\n]{0,80})\)?")
_PLURAL = re.compile(r"(?:s|es|ies|e?n)")
_PROSE_ARGUMENT = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)+")
_ERROR = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Panic)", re.ASCII)
_SEPARATOR = re.compile(r"\.|::|->|#")
_SNAKE = re.compile(r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_{0,2}")
_DUNDER = re.compile(r"__[a-z]+__")
_PRIVATE = re.compile(r"_{1,2}[a-z][A-Za-z0-9]+")
_LOWER_CAMEL = re.compile(r"[a-z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_PASCAL = re.compile(
    r"(?:[A-Z][a-z0-9]+){2,}[A-Z]{0,4}|[A-Z]{2,6}[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+[A-Z]{2,}[a-z]\w*"
    r"|[A-Z]{2,6}[a-z]{3,}"
)
_SLASH = re.compile(r"[/\\]")
_LETTER = re.compile(r"[A-Za-z]")
_ANCHOR = re.compile(r"\.{1,2}|~|[A-Za-z]:")
_IN_NAMES = re.compile(r"[A-Za-z0-9][_.-]")
_SCOPED = re.compile(r"@[a-z][a-z0-9-]*/[a-z][a-z0-9._-]*")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def recognize_name(run: str, after: str) -> RecognizedName | None:
    """Return the name in ``run``; ``after`` is the following text (about 100 characters are enough)."""
    file = _recognize_file(run, after)
    if file:
        return file
    cut = _CJK.search(run)
    if cut:
        run, after = run[: cut.start()], run[cut.start() :]
    run = run.rstrip("/\\.-+~@#:")
    bare = run.lstrip("@#$")
    if len(bare) < 2:
        return None
    if bare in ERRNO_NAMES or _ERROR.fullmatch(bare):
        return RecognizedName(MentionKind.ERROR, bare, len(run), 4)
    if _SCOPED.fullmatch(run):  # a scoped package, @acme/ui
        return RecognizedName(MentionKind.SYMBOL, run, len(run), 3)
    if _is_directory(bare):
        return RecognizedName(MentionKind.FILE, bare, len(run), 3)
    weight = _identifier_run_weight(bare, after)
    return RecognizedName(MentionKind.SYMBOL, bare, len(run), weight) if weight else None


def identifier_weight(word: str) -> int:
    """Return how certainly a word without dots and parentheses is an identifier; 0 for ordinary words."""
    if word.lower() in BRAND_NAMES:
        return 0
    if _SNAKE.fullmatch(word) or _DUNDER.fullmatch(word) or _LOWER_CAMEL.fullmatch(word):
        return 4
    if _PRIVATE.fullmatch(word):
        return 2
    if not _PASCAL.fullmatch(word):
        return 0
    return 4 if word.endswith(CLASS_NAME_SUFFIXES) else 0 if word.startswith(SURNAME_PREFIXES) else 2


def _recognize_file(run: str, after: str) -> RecognizedName | None:
    for match in _EXTENSION.finditer(run):
        extension = match[1].lower()
        name = run[: match.end()].lstrip("@#$")
        if extension not in CODE_EXTENSIONS and extension not in DATA_EXTENSIONS:
            continue
        if name.lower() in NON_FILE_NAMES or (match.end() == len(run) and after.startswith("(")):
            return None
        stem = name[: -len(extension) - 1]
        if len(extension) == 1 and (len(re.sub(r"[^A-Za-z_]", "", stem)) < 2 or not match[1].islower()):
            return None
        is_certain = extension in CODE_EXTENSIONS or name.lower() in TEXT_FILES_OF_CODE
        weight = 4 if is_certain else 3 if _SLASH.search(name) else 1
        return RecognizedName(MentionKind.FILE, name, match.end(), weight)
    first = re.match(r"\.?[A-Za-z]+", run)
    if first and first[0] in FILES_WITHOUT_EXTENSION:
        return RecognizedName(MentionKind.FILE, first[0], first.end(), 4)
    return None


def _is_directory(run: str) -> bool:
    """Return whether ``run`` is a path without an extension; its start decides, since "and/or" has a slash, too."""
    first, *rest = _SLASH.split(run)
    if not rest or not _LETTER.search(run):
        return False
    is_deep = len(rest) > 1 and (not first or _IN_NAMES.search(run))
    return bool(first in ROOT_FOLDERS or _ANCHOR.fullmatch(first) or is_deep)


def _identifier_run_weight(run: str, after: str) -> int:
    """Return how certainly ``run``, which may have dots, is an identifier or a call."""
    parts = [part for part in _SEPARATOR.split(run) if part]
    if "/" in run or not parts or not all(_WORD.fullmatch(part) for part in parts):
        return 0
    shape_weight = _dotted_weight(run, parts) if len(parts) > 1 else identifier_weight(run)
    call = _CALL.match(after)
    if not call or run.lower() in MATH_FUNCTIONS or len(run) < 2:
        return shape_weight
    argument = call[1].strip()
    if not argument:
        return 4
    is_prose = _PLURAL.fullmatch(argument) or _PROSE_ARGUMENT.fullmatch(argument)
    return shape_weight if is_prose else max(shape_weight, 2)


def _dotted_weight(run: str, parts: list[str]) -> int:
    if parts[-1].lower() in TOP_LEVEL_DOMAINS:
        return 0
    if any(identifier_weight(part) for part in parts) or "::" in run or "->" in run:
        return 4
    if any(len(part) < 2 for part in parts) or "#" in run or not parts[-1][0].islower():
        return 0
    return 3 if parts[0] in COMMON_RECEIVERS or len(parts) > 2 else 1


# Stack traces

MAX_FRAMES = 40
MAX_LINES = 2000
MAX_LINE_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A frame of a stack trace; ``path`` is as printed."""

    path: str
    line: int
    symbol: str = ""

    def __str__(self) -> str:
        """Return the frame as a line that ``parse_stack_frames`` can parse."""
        return f"at {self.symbol or '?'} ({self.path}:{self.line})"


_TRACE_FORMATS = tuple(
    (language, re.compile(pattern), order == "reversed")
    for language, order, pattern in load_rows(__package__, "stack_trace_formats.tsv")
)
"""Language, pattern, and whether the innermost frame comes last."""
_LINE_NUMBER = re.compile(r"[:(]\d|line \d")
"""How every format gives the line: a text without one has no frame."""
_GO_FUNCTION = re.compile(
    r"^(?:created by )?(?P<symbol>[\w./*()$-]{1,240}?)(?:\([^()\n]{0,300}\)|\s+in goroutine \d{1,9})?\s*$"
)
_RUST_FUNCTION = re.compile(
    r"^\s{0,10}\d{1,4}: (?:0x[0-9a-f]{1,16} - )?(?P<symbol>[\w:<>&{}# ,$\[\]*()'-]{1,240}?)\s*$"
)
_RUST_LOCATION = re.compile(r"^\s{4,40}at (?P<path>[^\s:()]{1,300}\.rs):(?P<line>\d{1,7})")
_SYMBOL_NOISE = re.compile(r"::h[0-9a-f]{16}$|[ ]\[as [^\]]{0,80}\]$")
_TRAIT_IMPLEMENTATION = re.compile(r"<([\w:]{1,120}) as [^<>]{1,120}>")
_ARGUMENTS = re.compile(r"\((?!\*)[^()]{0,200}\)?(?: const)?$")


def parse_stack_frames(text: str) -> tuple[StackFrame, ...]:
    """Return the frames of all traces in ``text``, innermost first in each trace, each once, at most ``MAX_FRAMES``."""
    frames: list[StackFrame] = []
    block: list[StackFrame] = []
    block_language = previous_line = ""
    for line in text.splitlines()[:MAX_LINES]:
        line = line[:MAX_LINE_LENGTH]
        language, frame, is_reversed = _parse_line(line, previous_line)
        if frame:
            if language != block_language:
                frames += block
                block = []
            block.insert(0, frame) if is_reversed else block.append(frame)
            block_language = language
        elif line.startswith("Traceback "):  # a second exception, raised while handling the first one
            frames = block + frames
            block, block_language = [], ""
        previous_line = line
    frames = block + frames if block_language == "python" else frames + block
    return tuple(dict.fromkeys(frames))[:MAX_FRAMES]


def _parse_line(line: str, previous_line: str) -> tuple[str, StackFrame | None, bool]:
    """Return the language and the frame of a line, and whether the innermost frame comes last in that language."""
    if match := _RUST_LOCATION.match(line):
        function = _RUST_FUNCTION.match(previous_line)
        return "rust", _make_frame(match, function["symbol"] if function else ""), False
    for language, pattern, is_reversed in _TRACE_FORMATS:
        if match := pattern.match(line):
            symbol = match.groupdict().get("symbol") or ""
            if language == "go":
                function = _GO_FUNCTION.match(previous_line)
                symbol = function["symbol"] if function else ""
            return language, _make_frame(match, symbol), is_reversed
    return "", None, False


def _make_frame(match: re.Match[str], symbol: str) -> StackFrame:
    path = match["path"].strip().removeprefix("file://")
    return StackFrame(path, int(match["line"]), shorten_symbol(symbol))


def shorten_symbol(symbol: str) -> str:
    """Return the last two parts of a printed function: Cart.Total for ``main.(*Cart).Total``, "" for a nameless one."""
    symbol = _TRAIT_IMPLEMENTATION.sub(r"\1", _SYMBOL_NOISE.sub("", symbol.strip()))
    symbol = re.sub(r"<[^<>]{0,100}>|\{[^{}]{0,60}\}|\[[^\]]{0,60}\]", "", _ARGUMENTS.sub("", symbol))
    symbol = re.sub(r"[()*&]", "", symbol)
    parts = [part for part in re.split(r"::|->|[.#/\\]", symbol) if re.fullmatch(r"[\w$~][\w$~?!]{0,119}", part)]
    return ".".join(parts[-2:])
