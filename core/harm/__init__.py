"""What a shell line would destroy: said of parsed commands, never of text that only looks like one.

``places`` knows which paths matter, ``files``, ``git`` and ``services`` what programs do to them, ``harms`` puts them
together. Law: a table of programs; what is in no table does no harm.
"""

from .harm import Grade, Harm, Here
from .harms import harms_of, may_harm

__all__ = ["Grade", "Harm", "Here", "harms_of", "may_harm"]
