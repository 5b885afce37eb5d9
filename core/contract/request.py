"""The request that ``upbeat prepare`` reads from stdin, contract v1.

Only ``prompt`` is required. Unknown fields are ignored, so a client may send its own payload.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from upbeat.core.contract.event import ClientName


class RequestClient(BaseModel):
    """The caller."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: ClientName = ClientName.CLI
    event: str = "cli"
    session_id: str | None = None


class PrepareRequest(BaseModel):
    """A turn to prepare."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prompt: str
    client: RequestClient = RequestClient()
    repo_root: str | None = Field(
        default=None, description="The repository; by default found from the working directory."
    )
