"""What upbeat doctor probes on this machine."""
