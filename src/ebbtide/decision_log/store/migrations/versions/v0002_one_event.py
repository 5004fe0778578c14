"""A decision that is taken, and what the gate made of it, are one event.

The tables stay as they are, and events that were written before are read as ever. An earlier program would
take the new ones for kept, whatever the gate said: it is told to stay away.
"""

from __future__ import annotations

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing to do but to tell the version."""


def downgrade() -> None:
    """Events are not written anew."""
    raise NotImplementedError("what was written since cannot be read by the version before")
