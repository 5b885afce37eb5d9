"""The working tree: specs, documents, and side effects of policies."""
