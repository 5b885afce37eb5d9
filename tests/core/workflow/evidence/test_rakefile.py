"""What a task of a Rakefile runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.evidence.rakefile import rake_task


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("task :test do\n  puts '3 runs, 0 failures'\nend\n", []),
        ("task :test do\n  sh 'ruby -Itest test/a.rb'\nend\n", [("ruby -Itest test/a.rb", False)]),
        ("task 'test' do\n  sh('a') { |ok, _| puts ok }\nend\n", [("a", True)]),
        ("task :test do\n  system 'a'\nend\n", [("a", True)]),
        ("task :test do\n  system('a') || abort\nend\n", [("a", False)]),
        ("task :test do\n  sh('a')\n  exit(0)\nend\n", [("a", True)]),
        ("namespace :x do\n  task :test do\n    ruby 't.rb'\n  end\nend\n", [("ruby t.rb", False)]),
        ("task test: [:lint, :spec]\ntask :lint do\n  sh 'l'\nend\n", [("l", False), ("rake spec", False)]),
        ("task :test => :test\n", [("rake test", False)]),
        ("Rake::TestTask.new do |t|\nend\n", None),
        ("Rake::TestTask.new(:test) do |t|\nend\n", None),
        ("# Rake::TestTask.new\ntask :test do\nend\n", []),
        ("Rails.application.load_tasks\n", None),
    ],
)
def test_the_commands_of_a_task(text: str, expected: list[tuple[str, bool]] | None) -> None:
    """A task runs the commands that it names; what a library or another file defines is not read."""
    scripts = rake_task(text, "test", "/repo")

    assert expected == (None if scripts is None else [(one.text, one.ignores_failure) for one in scripts])


def test_default_names_of_libraries() -> None:
    """A task of a library without a name has the name that the library gives it."""
    text = "RSpec::Core::RakeTask.new\ntask default: :spec\n"

    assert rake_task(text, "spec", "/repo") is None
    assert ["rake spec"] == [one.text for one in rake_task(text, "default", "/repo") or ()]


@given(st.text("task :sh'\"do\nend(){}|= ", max_size=80))
def test_any_text(text: str) -> None:
    """Any text can be read."""
    rake_task(text, "s", "/repo")
