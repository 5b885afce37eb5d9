"""Parse a command line; a mistake is one sentence that names what was probably meant, then the usage."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from upbeat.core.settings_layers import did_you_mean


class ParagraphFormatter(argparse.HelpFormatter):
    """Fills the paragraphs of a description one by one."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(fill(paragraph, width, indent) for paragraph in text.split("\n\n"))


class OptionParser(argparse.ArgumentParser):
    """Takes no abbreviations, which would change their meaning with the next option that is added."""

    def __init__(self, **settings: Any) -> None:
        defaults: dict[str, Any] = {"formatter_class": ParagraphFormatter, "allow_abbrev": False}
        super().__init__(**defaults | settings)

    def parse_known_args(  # type: ignore[override]  # the namespace is always argparse's own
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse ``args``; also a subcommand reports what it does not know, with its own options."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown_text(unknown))
        return parsed, unknown

    def _unknown_text(self, words: Sequence[str]) -> str:
        option = next((word.partition("=")[0] for word in words if word.startswith("-") and word != "-"), "")
        if not option:
            return f"unexpected argument '{words[0]}'"
        known = sorted(name for action in self._actions for name in action.option_strings if name.startswith("--"))
        return f"no option '{option}'{did_you_mean(option, known)} (options: {', '.join(known)})"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        name = (action.metavar if isinstance(action.metavar, str) else action.dest).lower()
        what = action.option_strings[0] if action.option_strings else name
        raise argparse.ArgumentError(
            None, f"{what} takes no '{value}'{did_you_mean(str(value), known)} (choices: {', '.join(known)})"
        )

    def error(self, message: str) -> NoReturn:
        """Print ``message`` and the usage on stderr, and exit with 2."""
        if message == "the following arguments are required: COMMAND":
            names = [name for action in self._actions for name in action.choices or () if not action.option_strings]
            message = f"which command? (choices: {', '.join(names)})"
        self.exit(2, f"{self.prog}: {message}\n{self.format_usage()}")
