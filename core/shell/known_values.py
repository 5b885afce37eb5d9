"""What a shell line says about its variables, arguments, aliases and files, up to one of its commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.shell.outputs import known_output
from upbeat.core.shell.simple_command import Redirect, SimpleCommand
from upbeat.core.shell.syntax import Words

UNKNOWN_VALUE = "$"
"""Assigned instead of a value that the line does not say."""
MAX_VALUE_CHARS = 4096
_ALWAYS_SET = re.compile(r"\$(?:HOME|PWD|OLDPWD)\b|\$\{(?:HOME|PWD)\}")
_UNKNOWN_PART = re.compile(r"[$`]")


@dataclass(slots=True)
class KnownValues:
    """``variables`` are those with a known value, and the working directory under an empty name.

    ``positional`` are the arguments of the script or function, None if they are unknown; ``written_files`` are texts
    that the line writes, by path as written; ``substituted`` are known outputs of process substitutions by source.
    """

    positional: Words | None = None
    variables: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    written_files: dict[str, str] = field(default_factory=dict)
    substituted: dict[str, str] = field(default_factory=dict)

    def set_variable(self, name: str, value: str) -> None:
        """Assign a variable; an unknown value removes it."""
        if _UNKNOWN_PART.search(_ALWAYS_SET.sub("", value)) or len(value) > MAX_VALUE_CHARS:
            self.variables.pop(name, None)
        else:
            self.variables[name] = value

    def assign_builtin(self, command: SimpleCommand) -> None:
        """Follow builtins that set variables, arguments and aliases: ``read``, ``set --``, ``printf -v``, ``alias``."""
        match command.words:
            case ("set", "--", *arguments):
                self.positional = tuple(arguments)
            case ("shift", *_) if self.positional:
                self.positional = self.positional[1:]
            case ("unset", *names):
                for name in names:
                    self.variables[name] = ""
            case ("alias", *definitions):
                for name, _, value in (word.partition("=") for word in definitions if "=" in word):
                    self.aliases[name] = value
            case ("printf", "-v", name, *rest):
                self.set_variable(name, known_output(("printf", *rest), None) or UNKNOWN_VALUE)
            case ("mapfile" | "readarray", *rest) if rest and command.stdin_text:
                self.arrays[rest[-1]] = command.stdin_text.splitlines()
            case ("read", *rest):
                for name, value in zip(
                    (word for word in rest if not word.startswith("-")), _read_values(command), strict=False
                ):
                    self.set_variable(name, value)

    def write_files(self, command: SimpleCommand, redirects: Sequence[Redirect]) -> None:
        """Remember what the line writes to files."""
        targets = [redirect for redirect in redirects if redirect.descriptor in ("", "1")]
        is_tee = command.words[:1] == ("tee",)
        output = known_output(("cat",) if is_tee else command.words, command.stdin_text or None)
        if output is None:
            return
        if is_tee:
            operator = ">>" if "-a" in command.words else ">"
            targets = [Redirect(operator, word) for word in command.words[1:] if not word.startswith("-")]
        for redirect in targets:
            if redirect.operator in (">", ">>", ">|"):
                before = self.written_files.get(redirect.target, "") if redirect.operator == ">>" else ""
                self.written_files[redirect.target] = before + output

    def known_variables(self) -> Mapping[str, str]:
        """Return the variables with a known value, including the arguments of a script or function."""
        if self.positional is None:
            return self.variables
        arguments = (*self.positional, *([""] * (9 - len(self.positional))))
        numbered = {str(at): value for at, value in enumerate(arguments, start=1)}
        return {**self.variables, **numbered, "@": " ".join(self.positional), "*": " ".join(self.positional)}


def _read_values(command: SimpleCommand) -> list[str]:
    """Return what ``read`` reads: the words of its input, or for a list of files a pattern for each of them."""
    if command.stdin_text:
        return [command.stdin_text.partition("\n")[0]]
    match command.piped_from:
        case ("ls", *rest):
            return ["*"] if rest else ["./*"]
        case ("find", folder, *rest) if not folder.startswith("-") and not set(rest) & {"-name", "-iname", "-path"}:
            return [f"{folder}/*"]
    return [UNKNOWN_VALUE]
