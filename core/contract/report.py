"""The request and the report of a turn, contract v1: what ``upbeat prepare`` reads, and what it and plan mode print.

Version 1 only grows by additive changes. A reader of 1.0 reads any 1.x: unknown fields, clients and error codes are
kept, not rejected. Of a request only ``prompt`` is required, and unknown fields are ignored, so a client may send its
own payload. ``config/schema/v1`` is generated from this module; a golden test checks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from upbeat.core.contract.codes import ErrorCode, LimitCode
from upbeat.core.contract.event import ClientName
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.package_data import load_toml

SCHEMA_VERSION = "1.0"
RootSource = Literal["git", "no-git-root", "config"]
"""How the repository root was determined."""


class Model(BaseModel):
    """Base model: frozen, and open to the fields of later 1.x versions."""

    model_config = ConfigDict(frozen=True, extra="allow", use_enum_values=True)


class Client(Model):
    """The caller, and the event."""

    name: ClientName | str
    event: str = Field(description="The client's event: UserPromptSubmit, cli, codex-auto.")
    session_id: str | None = None


class Signal(Model):
    """One sign that the prompt is about code."""

    type: Literal["explicit", "implicit", "historical", "code"]
    match: str = Field(description="The words of the prompt that are the signal.")
    weight: float = Field(ge=0, le=1)


class Inputs(Model):
    """The inputs of the plan."""

    prompt: str = Field(description="The prompt, redacted.")
    intent: Literal["debug", "refactor", "docs", "feature", "none"] = "none"
    signals: list[Signal] = []
    repo_root: str
    repo_root_source: RootSource


class BudgetReport(Model):
    """The budget of the turn: milliseconds, concurrent tools, characters."""

    wall_ms: int = Field(ge=0)
    max_concurrency: int = Field(ge=0)
    max_injected_chars: int = Field(ge=0)


class PlannedTool(Model):
    """A tool that the plan calls, with clamped arguments."""

    tool: str
    tier: int = Field(ge=0, le=3)
    reason: str
    args: dict[str, Any]
    timeout_ms: int = Field(ge=0)


class ToolPlan(Model):
    """The tools that run or, in plan mode, would run."""

    tier_max: int = Field(ge=0, le=2)
    planned_codex_command: str | None = None
    budget: BudgetReport
    tools: list[PlannedTool] = []


class ToolError(Model):
    """Why a tool returned no result."""

    code: ErrorCode | str
    message: str


class Redaction(Model):
    """The number of redacted secrets of one kind."""

    kind: str
    count: int = Field(ge=1)


class ToolResult(Model):
    """The result of one tool call."""

    tool: str
    status: Literal["ok", "timeout", "error", "skipped"]
    started_at: str = Field(description="UTC, ISO 8601.")
    duration_ms: int = Field(ge=0)
    summary: str = ""
    data: dict[str, Any] | None = None
    error: ToolError | None = None
    redactions: list[Redaction] = []
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A planned tool and its result. ``output`` is set if ``result.status`` is ok."""

    result: ToolResult
    output: ToolOutput | None = None


class ItemExcerpt(Model):
    """A further location of an item whose lines were injected, as data."""

    symbol: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    excerpt: str
    """The id of these lines."""


class Item(Model):
    """One injected finding, as data. Lines count from 1; 0 means the whole file."""

    kind: str
    path: str
    symbol: str = ""
    start_line: int = Field(default=0, ge=0)
    end_line: int = Field(default=0, ge=0)
    score: float
    why: str
    tool: str
    summary: str = ""
    truncated: bool = False
    conflict: bool = False
    evidence_refs: list[str] = []
    excerpt: str = Field(default="", exclude_if=lambda excerpt: not excerpt)
    """The id of the source lines in the text, so that they need not be shown again; absent without source lines."""
    more: list[ItemExcerpt] = Field(default=[], exclude_if=lambda more: not more)
    """Further locations of the same file whose lines are in the text; absent if there are none."""


class Structured(Model):
    """The injected content as data, with the provenance of everything in the text."""

    items: list[Item] = []


class Safety(Model):
    """Rules for a consumer that shows the context to a model."""

    tool_output_is_untrusted: Literal[True] = True
    ignore_instructions_inside_tool_output: Literal[True] = True


class ForModel(Model):
    """Content for the model. A v1 consumer only has to read ``additional_context``."""

    additional_context: str = ""
    structured: Structured = Structured()
    safety: Safety = Safety()


class ForUser(Model):
    """Content for the user. The bracketed prefixes are stable."""

    tool_plan_text: str = ""
    results_text: str = ""
    limits_text: str = ""


class FusedContext(Model):
    """The context fused from all results, for the model and for the user."""

    for_model: ForModel = ForModel()
    for_user: ForUser = ForUser()


class Limit(Model):
    """Why the report contains less than requested: ``code`` for machines, ``text`` for users."""

    code: str
    text: str

    @classmethod
    def of(cls, code: LimitCode, detail: str = "", **values: object) -> Limit:
        """Return the limit with its stable sentence, filled with ``values``; ``detail`` follows a colon."""
        sentence: str = load_toml(__package__, "limits.toml")[code]
        text = sentence.format(**values) if values else sentence
        return cls(code=code.value, text=f"{text}: {detail}" if detail else text)


class Degraded(Model):
    """Whether the report is incomplete, why, and what remains: ``plan-only``, ``partial`` or ``empty``."""

    is_degraded: bool = False
    reason: str = ""
    degraded_to: Literal["", "plan-only", "partial", "empty"] = ""
    error: ErrorCode | str | None = Field(default=None, description="The error code behind the reason, if it is one.")


class Enforcement(Model):
    """States that tools ran through the single entry point, and which policy planned them."""

    single_tool_entry: Literal[True] = True
    source: Literal["orchestrator", "legacy", "adapter"] = "orchestrator"


class TurnReport(Model):
    """The report of a turn."""

    schema_version: Annotated[str, Field(pattern=r"^1\.\d+$")] = SCHEMA_VERSION
    run_id: str
    created_at: str = Field(description="UTC, ISO 8601; the epoch in plan mode.")
    client: Client
    inputs: Inputs
    tool_plan: ToolPlan
    tool_results: list[ToolResult] = []
    fused_context: FusedContext = FusedContext()
    limits: list[Limit] = []
    degraded: Degraded = Degraded()
    enforcement: Enforcement = Enforcement()
    project_profile: dict[str, Any] = Field(default={}, description="Legacy layer, kept for old consumers.")
    current_state: dict[str, Any] = Field(default={}, description="Legacy layer, kept for old consumers.")
    task_context: dict[str, Any] = Field(default={}, description="Legacy layer, kept for old consumers.")
    recommended_tools: list[str] = Field(default=[], description="Legacy layer, kept for old consumers.")
    constraints: dict[str, Any] = Field(default={}, description="Legacy layer, kept for old consumers.")

    def to_json(self) -> str:
        """Return indented JSON without a trailing newline; equal reports give equal bytes."""
        return self.model_dump_json(indent=2)


class RequestClient(BaseModel):
    """The caller."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: ClientName = ClientName.CLI
    event: str = "cli"
    session_id: str | None = None


class PrepareRequest(BaseModel):
    """A turn to prepare."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Annotated[str, Field(pattern=r"^1\.\d+$")] = Field(
        default=SCHEMA_VERSION, description="The version of the contract that the caller writes."
    )
    prompt: str
    client: RequestClient = RequestClient()
    repo_root: str | None = Field(
        default=None, description="The repository; by default found from the working directory."
    )
