"""The traits of clients, as core sees them."""

from __future__ import annotations

from dataclasses import fields

from upbeat.adapters.clients.registry import CLIENTS
from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.policies import POLICIES


def test_an_unknown_client_does_nothing_by_itself() -> None:
    """All traits of an unknown client are off or empty, but its hooks report failures and commands start with "/"."""
    traits = {each.name: getattr(UNKNOWN_CLIENT, each.name) for each in fields(ClientTraits)}

    assert {"reports_failures": True, "command_sign": "/"} == {name: value for name, value in traits.items() if value}


def test_policies_name_traits_that_exist() -> None:
    """Each trait that a policy depends on is a trait of clients."""
    named = {trait for policy in POLICIES for trait in (policy.native_trait, policy.required_trait)} - {""}

    assert named
    assert named <= {each.name for each in fields(ClientTraits)}


def test_resume_commands_name_the_session() -> None:
    """A command that resumes a session has the placeholder of the session id; the one for a new turn has not."""
    with_turns = [client.traits for client in CLIENTS if client.traits.turn_command]

    assert with_turns
    assert all("{session_id}" in traits.resume_command for traits in with_turns)
    assert not any("{session_id}" in traits.turn_command for traits in with_turns)
