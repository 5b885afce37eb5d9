"""Puts what a query names first: files, definitions, and lines of them, in the order in which it names them.

Invariant: a rule, not a weight. It holds only for what the tree has: a path or a name that nothing in the tree has, or
that more than ``MAX_ALTERNATIVES`` files share, changes nothing, nor does a word that is ordinary prose. Tests are
first only if they are named. The answer is the same with and without an index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.index.document import StoredDocument
from upbeat.adapters.code.query.posting_source import PostingSource
from upbeat.adapters.code.query.rank import DECLARATION_EXTENSIONS, RankedFile
from upbeat.core.prompt.entities import (
    BRAND_NAMES,
    FILE_URL,
    Mention,
    MentionKind,
    find_mentions,
    parse_stack_frames,
)
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, SpanKind, blank_spans, clip_prompt, mask_prompt

MAX_NAMED = 5
"""Things that are put first; a text that names more is a report."""

MAX_REQUEST_CHARS = 400
"""Length of a query from which on it is a report."""

MAX_OVERVIEW_CHARS = 80
MAX_JOINED_WORDS = 5
MAX_ALTERNATIVES = 3
"""Files that one name can mean; they keep the order of their ranks."""

MAX_FRAMES = 3
MAX_DEFINING_FILES = 24
"""Files that are examined for the definition of one name."""

SCORE_STEP = 0.01
OTHER_SCORE_FACTOR = 0.9
"""Score of the other files, compared with their rank alone."""

_LINES = re.compile(r"(?::|#L|\(|,? lines? |,? ?第 ?)(\d{1,6})(?:(?:-L?|:\d{1,4}-|–)(\d{1,6}))?")
"""Lines behind a path: ``:12``, ``:12-20``, ``#L12-L20``, ``, line 12``, ``第 12 行``."""
_ASKED_DEFINITION = re.compile(
    r"\b(?:where(?: is|'s| are)|find)(?: the)? [`\"']?([A-Za-z_]\w{2,80})[`\"']?(?:\(\))? "
    r"(?:is )?(?:defined|declared|implemented|definition|implementation)\b"
    r"|\bdefinition of [`\"']?([A-Za-z_]\w{2,80})\b"
    r"|(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]{2,80})[`\"' ]{0,2}是?在(?:哪里|哪儿|哪|哪個|哪裡|何处|何處)里?"
    r"(?:定义|定義|实现|實現|声明)"
    r"|^\s*(?:async )?(?:def|class|func|fn|function|struct|interface|trait|enum|type|const)\s+"
    r"([A-Za-z_]\w{2,80})\S{0,3}\s*$",
    re.I,
)
"""A word that the query takes for a definition, whatever its form."""
_PATH_OR_NAME = re.compile(
    r"(?<![\w./-])(?P<path>\.?[\w+-]+(?:/[\w.+@-]+)+|\.?[\w+-]*[A-Za-z_](?:\.\w+)*\.[A-Za-z_]\w{0,9}|\.[a-z][\w-]{3,})(?![\w/])"
    r"|(?<![\w.])(?P<name>_*[a-z][a-z0-9]*(?:[A-Z]|_[a-zA-Z0-9])\w*|[A-Z]\w*(?:[a-z0-9][A-Z]|_\w)\w*)(?!\w)",
    re.ASCII,
)
_IDENTIFIER_FORM = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z]\d|\d[A-Za-z]")
_QUALIFIER = re.compile(r"\.|::|->|#")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")
_RECEIVERS = frozenset(("", "self", "cls", "this", "super"))
_TEST_NAME = re.compile(r"_*tests?(?:_|[A-Z])|\w+Tests?$", re.ASCII)


_DECLARATION = (
    r"^(?:\t|[ ]{{0,4}})(?:(?:export|declare|const|static|let|var|extern|public|pub|typedef|type)\b"
    r"[^=;\"'(\n]{{0,80}}?)?"
    r"(?<![\w$])({0})(?:\s*:[^=:]|(?:[ \t]+[\w.*\[\]]{{1,60}})?\s*=[^=]|\s*,?[ \t]*(?:#.*|//.*)?$|\s*;)|^\}}\s*({0});"
)
"""A line that declares a name in a form that outlines leave out: constants in a group, fields, types behind a body."""


_PROJECT = r"(?:project|repo|repository|code ?base|library|package|app)"
_OVERVIEW = re.compile(
    rf"\bwhat(?:'s| is| does)(?: this| the| our)? {_PROJECT}(?: (?:do|about|for|all about|good for|doing))*\s*[?.!]*$"
    rf"|\b(?:overview|summary|purpose) of (?:this|the|our) (?:whole |entire )?{_PROJECT}\b"
    r"|(?:项目|專案|仓库|倉庫|库|代码库)(?:到底|究竟)?是?(?:用来|用來)?(?:做|干|幹)(?:什么|什麼|啥|嘛)",
    re.I,
)
"""A prompt about the repository as a whole."""
OVERVIEW_FILES = tuple(
    stem + end for end in (".md", ".rst", "", ".txt", ".adoc", ".org") for stem in ("README", "readme")
)


class Strength(IntEnum):
    """How certainly a mention means a thing of the tree; a weak one counts if the tree has exactly one such thing."""

    WEAK = 1
    STRONG = 2


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A path, with the first and last line if the query gives them, or a symbol, which may have an owner.

    An error counts only if nothing else is named: what raised it is more likely to be meant. ``function`` is the one
    that a stack frame names.
    """

    name: str
    is_path: bool
    strength: Strength = Strength.STRONG
    lines: tuple[int, int] | None = None
    is_error: bool = False
    function: str = ""


@dataclass(slots=True)
class NamedFile:
    """A file that the query names, with the positions of the definitions, and the lines, that it names in it."""

    path: str
    positions: list[int] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)


def put_named_first(
    source: PostingSource,
    mentions: Sequence[NamedMention],
    wanted_roles: frozenset[FileRole],
    ranked: Sequence[RankedFile],
) -> list[RankedFile]:
    """Return ``ranked`` with the files that ``mentions`` mean first, also those that were not ranked.

    Raises:
        ToolFailure: The search was cancelled.
    """
    if not mentions:
        return list(ranked)
    named = _Resolver(source, wanted_roles, ranked).resolve(mentions)
    known = {file.features.path: file for file in ranked}
    missing = [path for path in named if path not in known]
    known |= {file.features.path: file for file in _load(source, missing)} if missing else {}
    first = [
        replace(
            known[path],
            score=round(1.0 - SCORE_STEP * place, 4),
            name_match=1.0,
            named_positions=tuple(dict.fromkeys(item.positions)),
            named_lines=tuple(dict.fromkeys(item.lines)),
        )
        for place, (path, item) in enumerate(pair for pair in named.items() if pair[0] in known)
    ]
    others = [file for file in ranked if file.features.path not in named]
    factor = OTHER_SCORE_FACTOR if first else 1.0
    return first + [replace(file, score=round(factor * file.score, 4)) for file in others]


def _load(source: PostingSource, paths: Sequence[str]) -> Iterator[RankedFile]:
    """Yield the files at ``paths`` with all features."""
    features = [source.extractor.extract_summary(path, document) for path, document in source.documents(paths)]
    lines = source.word_lines([file.path for file in features])
    for file in features:
        source.extractor.add_details(file, lines[file.path], lambda: "")
        yield RankedFile(file, 0.0, 1.0)


# What the query names


def find_overview(source: PostingSource, query: str) -> str:
    """Return the file that says what the project is, if ``query`` asks that and there is one; else the empty string."""
    if len(query) > MAX_OVERVIEW_CHARS or not _OVERVIEW.search(query):
        return ""
    return next((path for path in OVERVIEW_FILES if path in source.paths), "")


def find_named_mentions(query: str, files: Iterable[str] = (), symbols: Iterable[str] = ()) -> list[NamedMention]:
    """Return what ``query`` names, in order, each once, then ``files`` and ``symbols``, which the caller named.

    Of a long text, or one that names much, only paths and stack frames count: it is a report, which names what was
    used when something went wrong.
    """
    frames = parse_stack_frames(query)[:MAX_FRAMES]
    own = list(_mentions_in(_before_frames(query) if frames else query))
    asked = [NamedMention(path, True) for path in files]
    asked += [NamedMention(name, False, _strength_of(name)) for name in symbols]
    if len(query) > MAX_REQUEST_CHARS or len({item.name for item in own}) > MAX_NAMED:
        own, asked = [item for item in own if item.is_path and (item.lines or "/" in item.name)], []
    if frames:
        asked = [
            NamedMention(frame.path, True, Strength.WEAK, (frame.line, frame.line), function=frame.symbol)
            for frame in frames
        ]
    things = [item for item in (*own, *asked) if not item.is_error] or list(_joined_words(query))
    by_name: dict[tuple[object, ...], NamedMention] = {}
    for item in things or own:
        key = item.name, item.function
        known = by_name.get(key, item)
        strength = max(known.strength, item.strength)
        by_name[key] = replace(known, strength=strength, lines=known.lines or item.lines)
    return list(by_name.values())[:MAX_NAMED]


def _joined_words(query: str) -> Iterator[NamedMention]:
    """Yield the words of a query of two to five words as one name, as an agent asks for ``parse_file_size``."""
    words = query.lower().split()
    if 2 <= len(words) <= MAX_JOINED_WORDS and all(word.isascii() and word.isidentifier() for word in words):
        camel = words[0] + "".join(map(str.capitalize, words[1:]))
        for name in ("_".join(words), camel, camel[0].upper() + camel[1:]):
            yield NamedMention(name, False, Strength.WEAK)


def _before_frames(query: str) -> str:
    """Return the lines before the first stack frame; behind it are the names that only the trace has."""
    lines = query.split("\n")
    return "\n".join(lines[: next((number for number, line in enumerate(lines) if parse_stack_frames(line)), None)])


def _mentions_in(text: str) -> Iterator[NamedMention]:
    """Yield the paths and symbols of the user's own words in ``text``, in order; a name may occur again."""
    masked = mask_prompt(clip_prompt(text))
    found: list[tuple[int, NamedMention]] = []
    for match in FILE_URL.finditer(masked.text):
        path = match["path"].rstrip(".,;:!?)")
        found.append(
            (match.start(), NamedMention(path, True, Strength.STRONG, _lines_at(masked.text, match.end("path"))))
        )
    for match in _ASKED_DEFINITION.finditer(masked.text):
        group = match.lastindex or 0
        found.append((match.start(group), NamedMention(match[group], False, Strength.WEAK)))
    hidden = [(span.start, span.end) for span in masked.spans if span.kind is not SpanKind.INLINE]
    own_text = blank_spans(masked.text, hidden)
    end = 0
    for mention in find_mentions(masked):
        found += _unrecognized_mentions(own_text[end : mention.start], end)
        end = mention.end
        item = _to_named(mention, masked.text)
        if item:
            found.append((mention.start, item))
    found += _unrecognized_mentions(own_text[end:], end)
    yield from (item for _, item in sorted(found, key=lambda pair: pair[0]))


def _unrecognized_mentions(text: str, offset: int) -> Iterator[tuple[int, NamedMention]]:
    """Yield what has some form of a path or an identifier; the tree decides whether it is one."""
    for match in _PATH_OR_NAME.finditer(text):
        is_path = match.lastgroup == "path"
        if is_path or match[0].lower() not in BRAND_NAMES:
            yield offset + match.start(), NamedMention(match[0].rstrip("."), is_path, Strength.WEAK)


def _to_named(mention: Mention, text: str) -> NamedMention | None:
    """Return the mention as one that can be first; None for what only pasted text or an error message names."""
    if mention.kind is MentionKind.FILE:
        if mention.span_kind in PASTED_KINDS:
            return None
        return NamedMention(mention.name, True, Strength.STRONG, _lines_at(text, mention.end))
    if mention.span_kind is SpanKind.LOG or (mention.kind is MentionKind.ERROR and not mention.name.isidentifier()):
        return None
    is_used = mention.span_kind in PASTED_KINDS and mention.weight > 0
    is_error = mention.kind is MentionKind.ERROR
    strength = Strength.WEAK if is_error else _strength_of(mention.name)
    return None if is_used else NamedMention(mention.name, False, strength, None, is_error)


def _strength_of(name: str) -> Strength:
    return Strength.STRONG if any(map(has_identifier_form, _QUALIFIER.split(name))) else Strength.WEAK


def has_identifier_form(name: str) -> bool:
    """Return whether no ordinary word looks like ``name``: it joins words, or has digits or an underscore."""
    return bool(_IDENTIFIER_FORM.search(name)) and name.lower() not in BRAND_NAMES


def _lines_at(text: str, offset: int) -> tuple[int, int] | None:
    """Return the first and last line that ``text`` gives at ``offset``."""
    match = _LINES.match(text, offset)
    if not match:
        return None
    first = int(match[1])
    return first, max(first, int(match[2] or first))


# What the tree has of it


class _Resolver:
    """Finds the files and definitions that mentions mean."""

    def __init__(self, source: PostingSource, wanted_roles: frozenset[FileRole], ranked: Sequence[RankedFile]) -> None:
        self._source = source
        self._wanted_roles = wanted_roles
        self._documents = {file.features.path: file.features.document for file in ranked}
        self._rank = {path: place for place, path in enumerate(self._documents)}

    def resolve(self, mentions: Sequence[NamedMention]) -> dict[str, NamedFile]:
        """Return the named files by path, in the order in which they are named."""
        paths = {item.name: self._paths(item) for item in mentions if item.is_path}
        named_paths = {path for group in paths.values() for path in group}
        named: dict[str, NamedFile] = {}
        for item in mentions:
            for found in self._meanings(item, paths, named_paths):
                file = named.setdefault(found.path, found)
                if file is not found:
                    file.positions += found.positions
                    file.lines += found.lines
        return named

    def _meanings(
        self, item: NamedMention, paths: Mapping[str, Sequence[str]], named_paths: set[str]
    ) -> list[NamedFile]:
        """Return the files that ``item`` means, with the definitions or lines in them."""
        if item.is_path:
            is_frame = item.lines and item.strength is Strength.WEAK
            return [
                self._place(path, item)
                for path in paths[item.name]
                if not (is_frame and classify_file(path).role is FileRole.TEST)
            ]
        if not _name_parts(item):
            return []
        if definitions := self._definitions(item, named_paths):
            return [NamedFile(path, positions) for path, positions in definitions.items()]
        limit = MAX_ALTERNATIVES if item.strength is Strength.STRONG else 1
        declarations = self._declarations(_QUALIFIER.split(item.name)[-1])
        if declarations:
            return declarations if len(declarations) <= limit else []
        as_path = self._paths(replace(item, strength=Strength.WEAK)) if "." in item.name else []
        return [NamedFile(path) for path in as_path]

    def _place(self, path: str, item: NamedMention) -> NamedFile:
        """Return the lines of ``path`` that ``item`` names; the function of a frame that is elsewhere by now."""
        if item.lines and (parts := _name_parts(replace(item, name=item.function))):
            self._read([path])
            document = self._documents.get(path)
            positions = _positions(document, path, parts[-1], parts[-2] if len(parts) > 1 else "") if document else []
            found = [document.definitions[position] for position in positions] if document else []
            if found and not any(one.start_line <= item.lines[0] <= one.end_line for one in found):
                return NamedFile(path, positions)
        return NamedFile(path, [], [item.lines] if item.lines else [])

    def _order(self, path: str) -> tuple[object, ...]:
        return path.endswith(DECLARATION_EXTENSIONS), self._rank.get(path, len(self._rank)), path

    def _narrow(self, paths: Iterable[str]) -> list[str]:
        """Return those of ``paths`` that have a wanted role, or all if none has, best first."""
        ordered = sorted(paths, key=self._order)
        wanted = [path for path in ordered if classify_file(path).role in self._wanted_roles]
        sources = [path for path in wanted if classify_file(path).role is FileRole.SOURCE]
        return sources or wanted or ordered

    def _paths(self, mention: NamedMention) -> list[str]:
        """Return the files that a path means; it may be longer or shorter than the path in the tree."""
        parts = [part for part in mention.name.replace("\\", "/").lower().split("/") if part not in ("", ".", "..")]
        if not parts:
            return []
        lengths: dict[str, int] = {}
        for path in self._source.paths_named({parts[-1]}):
            common = _common_parts(path.lower().split("/"), parts)
            if common in (path.count("/") + 1, len(parts)) or (common > 1 and _ABSOLUTE.match(mention.name)):
                lengths[path] = common
        longest = max(lengths.values(), default=0)
        best = self._narrow(path for path, length in lengths.items() if length == longest)
        best.sort(key=lambda path: path.lower() != "/".join(parts))
        limit = MAX_ALTERNATIVES if mention.strength is Strength.STRONG else 1
        return best if len(best) <= limit else []

    def _definitions(self, mention: NamedMention, named_paths: set[str]) -> dict[str, list[int]]:
        """Return the files that define the symbol, with the positions of its definitions; empty if it is unclear."""
        *owners, name = _name_parts(mention)
        found = self._find(name, owners[-1] if owners else "", named_paths)
        for part in (name, owners[-1]) if owners and not found else ():
            found = found or (self._find(part, "", named_paths) if has_identifier_form(part) else {})
        limit = MAX_ALTERNATIVES if mention.strength is Strength.STRONG else 1
        if mention.strength is Strength.WEAK and len(found) > 1:
            found = {path: kept for path in found if (kept := self._outermost(path, found[path]))}
        paths = self._narrow(found)
        return {path: found[path] for path in paths} if len(paths) <= limit else {}

    def _find(self, name: str, owner: str, named_paths: set[str]) -> dict[str, list[int]]:
        """Return the definitions of ``name``, in a class or module ``owner`` if it is given, by file."""
        if len(name) < 2:
            return {}
        roles = self._wanted_roles | ({FileRole.TEST} if _TEST_NAME.match(name) else frozenset())
        paths = dict.fromkeys(path for path in self._documents if name in self._documents[path].definitions.names)
        paths |= dict.fromkeys(self._source.paths_defining(name))
        candidates = [path for path in paths if path in named_paths or classify_file(path).role in roles]
        in_named = [path for path in candidates if path in named_paths]
        if owner and len(candidates) > MAX_DEFINING_FILES:
            owning = {*self._source.paths_defining(owner)}
            candidates = [path for path in candidates if path in owning or _is_module(path, owner)]
        if len(candidates) > MAX_DEFINING_FILES and not in_named:
            return {}
        self._read(in_named or candidates)
        found: dict[str, list[int]] = {}
        for path in in_named or candidates:
            document = self._documents.get(path)
            positions = _positions(document, path, name, owner) if document else []
            if positions:
                found[path] = positions if len(positions) <= MAX_ALTERNATIVES else []
        return found

    def _declarations(self, name: str) -> list[NamedFile]:
        """Return the files with a line that declares ``name``, where no outline has it as a definition."""
        declares = re.compile(_DECLARATION.format(re.escape(name)), re.M)
        found = []
        for path in [*self._source.paths_defining(name)][:MAX_DEFINING_FILES]:
            kind = classify_file(path)
            if kind.role in self._wanted_roles and kind.language and name not in self._names(path):
                text = self._source.read_text(path) or ""
                if match := declares.search(text):
                    line = text.count("\n", 0, match.start(match.lastindex or 0)) + 1
                    found.append(NamedFile(path, [], [(line, line)]))
        return found

    def _names(self, path: str) -> Sequence[str]:
        self._read([path])
        document = self._documents.get(path)
        return document.definitions.names if document else ()

    def _outermost(self, path: str, positions: Sequence[int]) -> list[int]:
        """Return those of ``positions`` that are in no function: what is inside one is hardly ever meant."""
        definitions = self._documents[path].definitions
        return [position for position in positions if not definitions[position].parent[:1].islower()]

    def _read(self, paths: Sequence[str]) -> None:
        missing = [path for path in paths if path not in self._documents]
        self._documents.update(self._source.documents(missing) if missing else ())


def _name_parts(mention: NamedMention) -> list[str]:
    """Return the owners and the name of a symbol, last; empty for a receiver alone, such as ``self``."""
    return [part for part in _QUALIFIER.split(mention.name.lstrip("@$")) if part not in _RECEIVERS]


def _positions(document: StoredDocument, path: str, name: str, owner: str) -> list[int]:
    """Return the definitions of ``name`` in the document; with an ``owner``, those in such a class or module."""
    names = document.definitions.names
    positions = [position for position, defined in enumerate(names) if defined == name]
    if not owner:
        return positions
    inside = [position for position in positions if document.definitions[position].parent == owner]
    outside = [position for position in positions if not document.definitions[position].parent]
    # Go and C++ define methods outside of their types.
    return inside or (outside if owner in names or _is_module(path, owner) else [])


def _common_parts(own: list[str], parts: list[str]) -> int:
    """Return how many parts the two paths share from their ends; a file name may lack its extension."""
    if own[-1] != parts[-1] and (len(parts) == 1 or own[-1].partition(".")[0] != parts[-1]):
        return 0
    common = 1
    while common < min(len(own), len(parts)) and own[-1 - common] == parts[-1 - common]:
        common += 1
    return common


def _is_module(path: str, name: str) -> bool:
    """Return whether the file or its folder is called ``name``."""
    folder, _, file = path.rpartition("/")
    return name in (file.partition(".")[0], folder.rpartition("/")[2])
