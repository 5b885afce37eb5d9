"""The edges of upbeat: clients, files, processes, terminals. Each turns one of them into the core's words."""
