"""The policies: one behaviour a file, an imperative phrase as its name. ``POLICIES`` is the sorted list of them."""

from __future__ import annotations

from . import (
    act_on_keywords,
    doubt_empty_answer,
    expand_slash_command,
    finish_todo_list,
    notify_user,
    pursue_goal,
    question_needless_comments,
    recover_from_failed_edit,
    recover_from_invalid_json,
    remind_of_agents,
    remind_of_skills,
    remind_of_tasks,
    repair_failed_delegation,
    shorten_tool_output,
    show_agents_files_of_folder,
    show_readme_of_folder,
    show_rules_of_path,
    silence_continuation,
    start_work_on_plan,
    stop_destructive_commands,
    tell_how_to_resume_agent,
    verify_agents_work,
    watch_silent_agents,
)
from .policy import Policy

POLICIES: tuple[Policy, ...] = (
    act_on_keywords.POLICY,
    doubt_empty_answer.POLICY,
    expand_slash_command.POLICY,
    finish_todo_list.POLICY,
    notify_user.POLICY,
    pursue_goal.POLICY,
    question_needless_comments.POLICY,
    recover_from_failed_edit.POLICY,
    recover_from_invalid_json.POLICY,
    remind_of_agents.POLICY,
    remind_of_skills.POLICY,
    remind_of_tasks.POLICY,
    repair_failed_delegation.POLICY,
    shorten_tool_output.POLICY,
    show_agents_files_of_folder.POLICY,
    show_readme_of_folder.POLICY,
    show_rules_of_path.POLICY,
    silence_continuation.POLICY,
    start_work_on_plan.POLICY,
    stop_destructive_commands.POLICY,
    tell_how_to_resume_agent.POLICY,
    verify_agents_work.POLICY,
    watch_silent_agents.POLICY,
)
BY_NAME = {policy.name: policy for policy in POLICIES}
