"""How a prompt shows that it is about code."""

from __future__ import annotations

import pytest

from upbeat.core.prompt.analysis import PromptSignal, SignalType
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.signals import WeightedSignal, is_about_code

EXPLICIT, IMPLICIT = SignalType.EXPLICIT, SignalType.IMPLICIT
HISTORICAL, CODE = SignalType.HISTORICAL, SignalType.CODE

SHOWN = [
    ("Fix the Crash in parser.py", [(IMPLICIT, "Fix"), (IMPLICIT, "Crash"), (EXPLICIT, "parser.py")]),
    ("get_user is broken since the last commit", [(EXPLICIT, "get_user"), (HISTORICAL, "since the last commit")]),
    ("重構訂單模組", [(IMPLICIT, "重構"), (IMPLICIT, "訂單"), (IMPLICIT, "模組")]),
    ("explain `x == y` here", [(CODE, "`x == y`")]),
    ("explain\n```py\nx = 1\n```", [(CODE, "```py x = 1 ```")]),
    ("KeyError: 'a'\nwhy", [(EXPLICIT, "KeyError"), (EXPLICIT, "KeyError: 'a'")]),
    ("why\ndef fix(a):", [(CODE, "def fix(a):")]),
    ("parser.py parser.py", [(EXPLICIT, "parser.py")]),
    ("explain PaymentGateway", [(IMPLICIT, "PaymentGateway")]),
    ("where is it enforced?", [(IMPLICIT, "enforced")]),
    ("how is the session validated", [(IMPLICIT, "session"), (IMPLICIT, "validated")]),
    ("这个bug怎么改", [(IMPLICIT, "bug")]),
    ("add a recipe endpoint", [(IMPLICIT, "endpoint")]),
    ("explain `load`, it used to work", [(EXPLICIT, "`load`"), (HISTORICAL, "used to work")]),
    ("how are sessions validated", [(IMPLICIT, "sessions"), (IMPLICIT, "validated")]),
    ("explain `npm ci` in (a.py)", [(CODE, "`npm ci`"), (EXPLICIT, "a.py")]),
    ("the 'cart' parameter is lost", [(IMPLICIT, "'cart'"), (IMPLICIT, "parameter")]),
    ("“cart”参数没有了", [(IMPLICIT, "“cart”"), (IMPLICIT, "参数")]),
    ("add --no-cart to it", [(IMPLICIT, "--no-cart")]),
    ("fix(cart): 没有了", [(IMPLICIT, "fix"), (IMPLICIT, "fix(cart):")]),
    ("upgrade carts to v10", [(IMPLICIT, "upgrade")]),
    ("bump carts from 1.2 to 1.3", [(IMPLICIT, "bump")]),
    ("what's the weather", []),
    ("explain\n```\nroses are red\n```", []),
]

ENOUGH = [
    "explain the endpoint",
    "the cache is empty",
    "fix the button",
    "explain the class and its methods",
    "button, form, page",
    "add a weather widget component to the dashboard page",
    "what is a race condition in pool.py",
    "explain sales.total_by(region)",
    "add a derivative() function to maths.py for the equation parser",
]

NOT_ENOUGH = [
    "explain the class",
    "it used to work",
    "is it set?",
    "explain the class, the class, the class",
    "the button",
    "button and form",
    "fix the button on my coat at home, it fell off my shirt",
    "what is a mutex?",
    "the derivative of the function",
    "explain thanks.bye",
    "explain sales(last year)",
    "I have one class and one test at school",
    "explain 'the cache'",
    "explain the 'wonder' drug",
    "well --really",
    "upgrade my phone to v10",
    "I like chapter v10",
]


@pytest.mark.parametrize(("prompt", "signals"), SHOWN)
def test_signals(prompt: str, signals: list[tuple[SignalType, str]]) -> None:
    """read gives the prompt's own words for each sign, in order and once."""
    assert analyze_prompt(prompt).signals == tuple(PromptSignal(*signal) for signal in signals)


@pytest.mark.parametrize("prompt", ENOUGH)
def test_enough(prompt: str) -> None:
    """One sure sign is enough; two weak ones are with a request, three are without."""
    assert analyze_prompt(prompt).signals


@pytest.mark.parametrize("prompt", NOT_ENOUGH)
def test_not_enough(prompt: str) -> None:
    """One weak sign is not enough, nor are weak signs among words from outside the craft."""
    assert not analyze_prompt(prompt).signals


def signs(*weights: int | tuple[int, str]) -> list[WeightedSignal]:
    pairs = [weight if isinstance(weight, tuple) else (weight, f"word:{i}") for i, weight in enumerate(weights)]
    return [WeightedSignal(IMPLICIT, 0, 1, weight, what) for weight, what in pairs]


WEIGHED = [
    ((), True, False),
    ((1,), True, False),
    ((1, 1), False, False),
    ((1, 1), True, True),
    ((1, 1, 1), False, True),
    ((2,), False, True),
    ((2, -1), True, False),
    ((1, 1, 1, -1), True, False),
    ((2, 1, -1), True, True),
    ((3, -1), False, True),
    ((3, -3), True, False),
    ((1, -3, 3), True, False),
    (((3, "file:a"), -3), False, True),
    (((3, "file:a"), -3, 1), False, True),
    (((2, "symbol:a"), -3), True, False),
    (((1, "word:a"), (1, "word:a")), True, False),
]


@pytest.mark.parametrize(("weights", "is_request", "enough"), WEIGHED)
def test_is_about_code(weights: tuple[int | tuple[int, str], ...], is_request: bool, enough: bool) -> None:
    """Words outside the craft weigh against words and likely names, never against sure ones."""
    assert is_about_code(signs(*weights), is_request) is enough


def test_at_most_twenty() -> None:
    """read shows twenty signals at most, each of 80 characters at most."""
    signals = analyze_prompt(" ".join(f"file_{i}.py" for i in range(30))).signals
    assert [signal.match for signal in signals] == [f"file_{i}.py" for i in range(20)]
    assert [len(signal.match) for signal in analyze_prompt("`" + "x_" * 60 + "`").signals] == [80, 80]
