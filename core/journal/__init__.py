"""The journal: what a record is, how records are chained, and how one is explained."""
