"""The policies: one behaviour a file, an imperative phrase as its name. ``POLICIES`` is the sorted list of them."""

from __future__ import annotations

from . import (
    recover_from_failed_edit,
    show_rules_of_path,
)
from .policy import Policy

POLICIES: tuple[Policy, ...] = (recover_from_failed_edit.POLICY, show_rules_of_path.POLICY)
BY_NAME = {policy.name: policy for policy in POLICIES}
