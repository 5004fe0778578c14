"""Windows in which hardly anything varies.

Source: divergence spec, section 5, "Entropy-based" (clause D13).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def entropy_bits(symbols: Sequence[Hashable]) -> float:
    """Shannon entropy of the symbols' frequencies; 0 for one symbol alone.

    >>> entropy_bits("abab")
    1.0
    """
    total = len(symbols)
    return -sum(count / total * math.log2(count / total) for count in Counter(symbols).values()) + 0.0
