"""The ci_* tools, one file a tool."""
