"""Say what the file behind a prompt's ``/name`` holds, where the client does not (auto-slash-command)."""

from __future__ import annotations

import re

from ..contract.effect import Inject
from ..contract.event import ClientName, Event, Origin, PromptSubmitted
from ..turn.frame import Ours
from ..workflow.state import SessionState
from .look import Document, Look, PromptFile
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

MAX_BODY = 6000
"""Characters of a file that is filled in and injected; a longer one is only named."""

_NAME = re.compile(r"/(?:prompts:)?([A-Za-z0-9][\w-]{0,63}(?::[\w-]{1,64})?)(?=\s|$)", re.ASCII)
_PLACE = re.compile(r"\$(ARGUMENTS|@|[1-9])(?![0-9])")
_WORD = re.compile(r""""([^"]*)"|'([^']*)'|(\S+)""")
_FRONT = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)
_TEXT = Words(
    "The user's prompt calls the saved prompt `/{name}`, which this client does not fill in. The file of that name "
    "that the user keeps (`{path}`) says, with the words behind the command in place:\n---\n{body}\n---",
    "用户的提示调用了保存的提示 `/{name}`，而本客户端不会展开它。用户保存的文件 `{path}` 内容如下（参数已代入）："
    "\n---\n{body}\n---",
)
_LONG = Words(
    "The user's prompt calls the saved prompt `/{name}`, which this client does not fill in. It is long: read the "
    "file that the user keeps, `{path}`, and follow it with these words in place of its arguments: {arguments}",
    "用户的提示调用了保存的提示 `/{name}`，而本客户端不会展开它。内容较长：请读取用户保存的文件 `{path}`，"
    "并代入这些参数：{arguments}",
)


def _called(event: Event) -> tuple[str, str] | None:
    """The name and the arguments; None where the prompt is no such command."""
    if not isinstance(event, PromptSubmitted) or event.origin is not Origin.USER or event.prompt[:1] != "/":
        return None
    if event.source.client is ClientName.CLAUDE_CODE:
        return None
    found = _NAME.match(event.prompt)
    if found is None or found[1].lower().startswith("upbeat"):
        return None
    return found[1], event.prompt[found.end() :].strip()


def _looks(event: Event, _state: SessionState) -> tuple[Look, ...]:
    called = _called(event)
    return (PromptFile(called[0]),) if called else ()


def _prompt(event: PromptSubmitted, view: View) -> Word:
    called = _called(event)
    file: Document | None = view.found.get(PromptFile(called[0])) if called else None
    if called is None or file is None:
        return SILENT
    name, arguments = called
    body = _filled(_FRONT.sub("", file.text, count=1).strip(), arguments[:MAX_BODY])
    if not body:
        return SILENT
    words = _TEXT if len(body) <= MAX_BODY else _LONG
    text = words.of(view.language).format(
        name=name, path=file.path, body=Ours(body), arguments=Ours(arguments[:1000] or "-")
    )
    return Word((Inject(text),), f"/{name} is {file.path}", names=(file.path,))


def _filled(body: str, arguments: str) -> str:
    """``body`` with ``$ARGUMENTS``, ``$@`` and ``$1`` to ``$9`` in place, and ``$$`` for one dollar."""
    words = [found[1] or found[2] or found[3] or "" for found in _WORD.finditer(arguments)]

    def put(place: re.Match[str]) -> str:
        if place[1] in ("ARGUMENTS", "@"):
            return arguments
        number = int(place[1])
        return words[number - 1] if number <= len(words) else ""

    parts = (_PLACE.sub(put, part) for part in body.split("$$"))
    return "$".join(parts)


POLICY = Policy(
    name="expand-slash-command",
    original="auto-slash-command",
    number=23,
    what=Words(
        "A prompt that begins with `/name` or `/prompts:name` gets what `~/.codex/prompts/name.md`, "
        "`~/.claude/commands/name.md` or, once it is trusted, the project's `.claude/commands/name.md` says, with "
        "its arguments filled in.",
        "以 `/name` 或 `/prompts:name` 开头的提示会附上 `~/.codex/prompts/name.md`、`~/.claude/commands/name.md` "
        "或（信任之后）项目的 `.claude/commands/name.md` 的内容，并代入参数。",
    ),
    why=Words(
        "`codex exec` and the app-server send such a command as it stands, and the model sees a word with a slash.",
        "`codex exec` 和 app-server 会原样发送这类命令，模型只看到一个带斜杠的词。",
    ),
    silent=Words(
        "for commands of upbeat, for a name without a file, for a path, and for a project's file that was not trusted",
        "upbeat 自己的命令、没有对应文件的名称、路径，以及未被信任的项目文件",
    ),
    on={PromptSubmitted: _prompt},
    clients={
        ClientName.CLAUDE_CODE: Standing(Carries.NATIVE, "it fills in its own commands, and knows no others"),
        ClientName.CODEX_CLI: WORKS,
    },
    looks=_looks,
    rank=20,
)
