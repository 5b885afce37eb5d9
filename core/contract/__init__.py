"""The contract between core and adapters: codes, events, effects, findings, and the turn report (version 1)."""
