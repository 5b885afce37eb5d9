"""The turn report, contract v1: what ``upbeat prepare`` and plan mode print.

Version 1 grows by additive changes only. A reader of 1.0 reads any 1.x: unknown fields, clients and error
codes are kept, not refused. ``config/schema/v1/turn-report.schema.json`` is generated from here and held by a
golden test.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .codes import ErrorCode, LimitCode, text_of
from .event import ClientName

SCHEMA_VERSION = "1.0"


RootSource = Literal["git", "no-git-root", "config"]
"""How the repository was found."""


class Model(BaseModel):
    """Frozen, and open to the fields of later 1.x versions."""

    model_config = ConfigDict(frozen=True, extra="allow", use_enum_values=True)


class Client(Model):
    """Who asked, and on which occasion."""

    name: ClientName | str
    event: str = Field(description="The client's occasion: UserPromptSubmit, cli, codex-auto.")
    session_id: str | None = None


class Signal(Model):
    """One reason to believe that a prompt is about code."""

    type: Literal["explicit", "implicit", "historical", "code"]
    match: str = Field(description="The words of the prompt that gave the signal.")
    weight: float = Field(ge=0, le=1)


class Inputs(Model):
    """What the plan was made from."""

    prompt: str = Field(description="The prompt, redacted.")
    intent: Literal["debug", "refactor", "docs", "feature", "none"] = "none"
    signals: list[Signal] = []
    repo_root: str
    repo_root_source: RootSource


class BudgetReport(Model):
    """The bounds of the turn: milliseconds, tools at once, characters."""

    wall_ms: int = Field(ge=0)
    max_concurrency: int = Field(ge=0)
    max_injected_chars: int = Field(ge=0)


class PlannedTool(Model):
    """One tool that the plan calls, with the arguments after clamping."""

    tool: str
    tier: int = Field(ge=0, le=3)
    reason: str
    args: dict[str, Any]
    timeout_ms: int = Field(ge=0)


class ToolPlan(Model):
    """What will run, or in plan mode what would."""

    tier_max: int = Field(ge=0, le=2)
    planned_codex_command: str | None = None
    budget: BudgetReport
    tools: list[PlannedTool] = []


class ToolError(Model):
    """Why a tool gave no result."""

    code: ErrorCode | str
    message: str


class Redaction(Model):
    """How many secrets of one kind were taken out."""

    kind: str
    count: int = Field(ge=1)


class ToolResult(Model):
    """What one tool call came to."""

    tool: str
    status: Literal["ok", "timeout", "error", "skipped"]
    started_at: str = Field(description="UTC, ISO 8601.")
    duration_ms: int = Field(ge=0)
    summary: str = ""
    data: dict[str, Any] | None = None
    error: ToolError | None = None
    redactions: list[Redaction] = []
    truncated: bool = False


class ItemExcerpt(Model):
    """A further place of an item whose lines were injected, as data."""

    symbol: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    excerpt: str
    """What these lines are known by."""


class Item(Model):
    """One thing that was injected, as data. Lines count from 1; 0 means the whole file."""

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
    """What the source lines in the text are known by, so that they need not be shown again; absent without any."""
    more: list[ItemExcerpt] = Field(default=[], exclude_if=lambda more: not more)
    """Further places of the same file whose lines are in the text; absent without any."""


class Structured(Model):
    """The injected content as data: everything in the text has its provenance here."""

    items: list[Item] = []


class Safety(Model):
    """What a consumer has to respect when it shows the context to a model."""

    tool_output_is_untrusted: Literal[True] = True
    ignore_instructions_inside_tool_output: Literal[True] = True


class ForModel(Model):
    """What the model gets. ``additional_context`` is all that a v1 consumer must read."""

    additional_context: str = ""
    structured: Structured = Structured()
    safety: Safety = Safety()


class ForUser(Model):
    """What the person gets. The bracketed prefixes are stable."""

    tool_plan_text: str = ""
    results_text: str = ""
    limits_text: str = ""


class FusedContext(Model):
    """One context out of many results, for the model and for the person."""

    for_model: ForModel = ForModel()
    for_user: ForUser = ForUser()


class Limit(Model):
    """What kept the report from being all that was asked for. Machines read ``code``, people ``text``."""

    code: str
    text: str

    @classmethod
    def of(cls, code: LimitCode, detail: str = "", **values: object) -> Limit:
        """The limit with its stable sentence; ``detail`` goes behind a colon."""
        return cls(code=code.value, text=text_of(code, detail, **values))


class Degraded(Model):
    """Whether something is missing, why, and what is left: ``plan-only``, ``partial`` or ``empty``."""

    is_degraded: bool = False
    reason: str = ""
    degraded_to: Literal["", "plan-only", "partial", "empty"] = ""
    error: ErrorCode | str | None = Field(default=None, description="The error code behind the reason, if it is one.")


class Enforcement(Model):
    """That tools ran through the one entry, and which policy planned them."""

    single_tool_entry: Literal[True] = True
    source: Literal["orchestrator", "legacy", "adapter"] = "orchestrator"


class TurnReport(Model):
    """A prepared turn."""

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
        """The report as indented JSON without a trailing newline; equal reports give equal bytes."""
        return self.model_dump_json(indent=2)
