"""Generated secrets in realistic contexts, written independently of the rules, so that they can disagree."""
