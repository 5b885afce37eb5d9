"""Tells by its shape whether a run of characters is a path, an identifier or an error name.

Law: the shape decides; the lists here only take ordinary names (node.js, example.com, YouTube) out, and
tell the ordinary from the certain. Nothing here knows the sentence around the word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ..texts.phrases import words


class Kind(StrEnum):
    """What a mention names."""

    FILE = "file"
    SYMBOL = "symbol"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Shape:
    """What ``length`` characters name. ``weight``: 1 may be prose, 2 probably not, 3 and 4 surely not."""

    kind: Kind
    name: str
    length: int
    weight: int


CODE_EXTENSIONS = words("""
    py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro java kt kts scala groovy gradle clj cljs ex exs erl
    hs ml mli fs fsx cs vb c h cc cpp cxx hpp hh m mm swift go rs rb erb php pl pm lua r jl dart zig nim sh bash zsh
    fish ps1 bat cmd sql graphql gql proto html htm css scss sass less xml xsl json jsonc json5 yaml yml toml ini cfg
    conf env lock md mdx rst adoc tf hcl nix mk cmake dockerfile ejs hbs jinja j2 tmpl tpl sol asm s wasm bats feature
    po pot properties plist log diff patch map snap service""")
DATA_EXTENSIONS = words("""
    txt csv tsv pdf png jpg jpeg gif svg webp ico doc docx xls xlsx ppt pptx zip tar gz db sqlite bin exe mp3 mp4""")
CODE_TEXT_FILES = words("requirements.txt cmakelists.txt robots.txt constraints.txt")
BARE_FILES = words("""
    Dockerfile Makefile Justfile justfile Jenkinsfile Procfile Gemfile Rakefile Vagrantfile Brewfile CODEOWNERS .env
    .gitignore .dockerignore .editorconfig .eslintrc .prettierrc .babelrc .npmrc .gitattributes .bashrc .zshrc""")
ROOTS = words("""
    src lib libs app apps core test tests spec specs docs pkg cmd internal packages scripts config configs components
    server api bin etc usr var tmp home opt include adapters examples benchmarks tools public assets static templates
    migrations models views controllers services utils hooks pages routes middleware handlers modules crates frontend
    backend web locales .github .vscode node_modules vendor build dist""")
NOT_FILES = words("""
    node.js next.js vue.js react.js three.js d3.js express.js nuxt.js ember.js backbone.js chart.js p5.js socket.io
    process.env console.log math.log np.log res.json req.json this.map""")
TOP_LEVEL_DOMAINS = words("com org net io cn ai dev app edu gov uk de fr jp tw hk me co tv us eu info www js so gg")
BRANDS = words("""
    iphone ipad ipados ios icloud imac imessage itunes ebay macos macbook youtube github gitlab linkedin facebook
    tiktok whatsapp wechat paypal powerpoint openai chatgpt deepseek javascript typescript postgresql mysql mongodb
    graphql pytorch tensorflow fastapi numpy wordpress latex devops airpods airbnb playstation fedex mastercard
    doordash bitcoin snapchat onedrive sharepoint salesforce hubspot netflix soundcloud nodejs nextjs webassembly
    vscode jetbrains intellij dropbox bytedance thinkpad hellofresh sqlite nosql oauth superbowl bilibili huawei
    xiaohongshu alipay taobao blackpink gamestop jetblue lasvegas newyork""")
PERSON_PREFIXES = ("Mc", "Mac", "De", "Di", "Du", "Le", "La", "Jo", "Van", "Von", "Fitz")
CODE_SUFFIXES = (
    *("Service", "Controller", "Handler", "Manager", "Factory", "Client", "Server", "Test", "View", "Model", "Store"),
    *("Provider", "Component", "Repository", "Parser", "Builder", "Config", "Hook", "Utils", "Util", "Helper", "Impl"),
    *("Adapter", "Request", "Response", "Context", "Loader", "Cache", "Queue", "Node", "Type", "Interface", "Base"),
    *("Form", "Button", "Modal", "List", "Item", "Token", "Session", "Router", "Worker", "Runner", "Writer", "Reader"),
    *("Registry", "Scheduler", "Validator", "Serializer", "Mixin", "State", "Event", "Listener", "Pool", "Limiter"),
)
ROOT_NAMES = words("""
    self this cls super os sys np pd plt app config settings user ctx req res request response db api util utils process
    console document window math json torch django flask numpy pandas logger log client server session store state
    props event module exports router cache model models view views test tests core lib main index auth array string
    object""")
MATHS = words("sin cos tan log ln exp lim sqrt gcd lcm")
ERRNO = words("""
    ECONNREFUSED ECONNRESET ENOENT EACCES EPERM EADDRINUSE ETIMEDOUT EPIPE EEXIST ENOTFOUND EINVAL EMFILE ENOMEM ENOSPC
    EHOSTUNREACH ENOTDIR EISDIR ERESOLVE SIGSEGV SIGKILL SIGTERM SIGABRT SIGBUS SIGPIPE""")

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


def shape_of(run: str, after: str) -> Shape | None:
    """What ``run`` names; ``after`` is the text that follows it (some 100 characters are enough)."""
    found = _file(run, after)
    if found:
        return found
    cut = _CJK.search(run)
    if cut:
        run, after = run[: cut.start()], run[cut.start() :]
    run = run.rstrip("/\\.-+~@#:")
    bare = run.lstrip("@#$")
    if len(bare) < 2:
        return None
    found = _error(bare) or _scoped(run) or _directory(bare) or _identifier(bare, after)
    return found and Shape(found.kind, found.name, len(run), found.weight)


def identifier_weight(word: str) -> int:
    """How sure one word without dots and brackets is an identifier; 0 for ordinary words."""
    if word.lower() in BRANDS:
        return 0
    if _SNAKE.fullmatch(word) or _DUNDER.fullmatch(word) or _LOWER_CAMEL.fullmatch(word):
        return 4
    if _PRIVATE.fullmatch(word):
        return 2
    if _PASCAL.fullmatch(word):
        if word.endswith(CODE_SUFFIXES):
            return 4
        return 0 if word.startswith(PERSON_PREFIXES) else 2
    return 0


def _file(run: str, after: str) -> Shape | None:
    for found in _EXTENSION.finditer(run):
        extension = found[1].lower()
        written = run[: found.end()]
        name = written.lstrip("@#$")
        stem = name[: -len(extension) - 1]
        if extension not in CODE_EXTENSIONS and extension not in DATA_EXTENSIONS:
            continue
        if name.lower() in NOT_FILES or (found.end() == len(run) and after.startswith("(")):
            return None
        if len(extension) == 1 and (len(re.sub(r"[^A-Za-z_]", "", stem)) < 2 or not found[1].islower()):
            return None
        sure = extension in CODE_EXTENSIONS or name.lower() in CODE_TEXT_FILES
        return Shape(Kind.FILE, name, len(written), 4 if sure else 3 if _SLASH.search(name) else 1)
    first = re.match(r"\.?[A-Za-z]+", run)
    if first and first[0] in BARE_FILES:
        return Shape(Kind.FILE, first[0], first.end(), 4)
    return None


def _error(run: str) -> Shape | None:
    if run in ERRNO or _ERROR.fullmatch(run):
        return Shape(Kind.ERROR, run, len(run), 4)
    return None


def _scoped(run: str) -> Shape | None:
    """A package with its scope, @acme/ui."""
    return Shape(Kind.SYMBOL, run, len(run), 3) if _SCOPED.fullmatch(run) else None


def _directory(run: str) -> Shape | None:
    """A path without an extension: known by where it starts, since "and/or" has a slash too."""
    first, *rest = _SLASH.split(run)
    if not rest or not _LETTER.search(run):
        return None
    is_deep = len(rest) > 1 and (not first or _IN_NAMES.search(run))
    if first in ROOTS or _ANCHOR.fullmatch(first) or is_deep:
        return Shape(Kind.FILE, run, len(run), 3)
    return None


def _identifier(run: str, after: str) -> Shape | None:
    parts = [part for part in _SEPARATOR.split(run) if part]
    if "/" in run or not parts or not all(_WORD.fullmatch(part) for part in parts):
        return None
    called = _call_weight(run, after)
    shaped = _dotted_weight(run, parts) if len(parts) > 1 else identifier_weight(run)
    weight = max(called, shaped)
    return Shape(Kind.SYMBOL, run, len(run), weight) if weight else None


def _dotted_weight(run: str, parts: list[str]) -> int:
    if parts[-1].lower() in TOP_LEVEL_DOMAINS:
        return 0
    if any(identifier_weight(part) for part in parts) or "::" in run or "->" in run:
        return 4
    if any(len(part) < 2 for part in parts) or "#" in run or not parts[-1][0].islower():
        return 0
    return 3 if parts[0] in ROOT_NAMES or len(parts) > 2 else 1


def _call_weight(run: str, after: str) -> int:
    call = _CALL.match(after)
    if not call or run.lower() in MATHS or len(run) < 2:
        return 0
    argument = call[1].strip()
    if not argument:
        return 4
    return 0 if _PLURAL.fullmatch(argument) or _PROSE_ARGUMENT.fullmatch(argument) else 2
