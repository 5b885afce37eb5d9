"""Secrets with a published format: one row a format, written from its vendor's documentation, a file a subject."""

from __future__ import annotations

from .clouds import CLOUDS
from .code import CODE
from .many_issuers import SHARED
from .models import MODELS
from .rule import Rule
from .services import SERVICES
from .work import WORK

RULES: tuple[Rule, ...] = (*CLOUDS, *CODE, *MODELS, *SERVICES, *WORK, *SHARED)
"""The earlier row names a secret that two of them see."""

__all__ = ["RULES", "Rule"]
