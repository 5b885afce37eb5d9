"""The policies: one behaviour a file, an imperative phrase as its name. ``POLICIES`` is the sorted list of them."""

from __future__ import annotations

from .policy import Policy

POLICIES: tuple[Policy, ...] = ()
BY_NAME = {policy.name: policy for policy in POLICIES}
