"""Handle one client event: context, evaluation, merging, and the ports that the core needs."""
