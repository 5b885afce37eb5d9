"""Whether upbeat's guards are armed: what was seen of clients and of this machine, judged. Values in and out."""
