"""The part of a log that somebody sees: one tenant, and perhaps one agent and one session of it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from ebbtide.decision_log.record.record import Decision, DecisionScope
from ebbtide.errors import ConfigError

_LONGEST = 200
_NAMELESS = DecisionScope().agent


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The names that every statement is bound to.

    Args:
        tenant: Whose log. It comes from whoever opened the log, never from an argument of a question.
        agent: Whose decisions; None sees those of all agents of the tenant, and writes as ``agent``.
        session: Of which session; None sees all.

    Raises:
        ConfigError: A name is empty, longer than 200 characters, or has characters that cannot be stored.
    """

    tenant: str
    agent: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        checked_name(self.tenant, "tenant")
        if self.agent is not None:
            checked_name(self.agent, "agent")
        if self.session is not None:
            checked_name(self.session, "session")

    @property
    def where(self) -> str:
        """The name in messages."""
        agent = "" if self.agent is None else f", agent {self.agent!r}"
        return f"tenant {self.tenant!r}{agent}"

    def scope(self, agent: str | None = None, session: str | None = None) -> DecisionScope:
        """The owner of a new decision.

        Raises:
            ConfigError: The agent or session is another one than that of the view, or no name.
        """
        return DecisionScope(
            tenant=self.tenant,
            agent=self.narrow_agent(agent) or _NAMELESS,
            session=self.narrow_session(session),
        )

    def scope_of(self, arrival: Decision) -> DecisionScope:
        """Maps the owner of an imported decision; the default agent, or no session, becomes that of the view.

        Raises:
            ConfigError: The agent or session is another one than that of the view, or no name.
        """
        agent = arrival.scope.agent
        return self.scope(None if agent == _NAMELESS else agent, arrival.scope.session)

    def narrow_agent(self, agent: str | None) -> str | None:
        """The agent to look at.

        Raises:
            ConfigError: It is not the one of the view.
        """
        return _narrow(self.agent, agent, "agent")

    def narrow_session(self, session: str | None) -> str | None:
        """The session to look at.

        Raises:
            ConfigError: It is not the one of the view.
        """
        return _narrow(self.session, session, "session")


def _narrow(bound: str | None, name: str | None, what: str) -> str | None:
    if name is None:
        return bound
    checked_name(name, what)
    if bound is not None and name != bound:
        raise ConfigError(f"{what} = {name!r:.60}: this view of the log is bound to {what} {bound!r:.60}")
    return name


def checked_name(name: object, what: str) -> str:
    """A name of a tenant, agent or session.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{what} = {name!r:.40}: expected a name")
    if len(name) > _LONGEST:
        raise ConfigError(f"{what} = {name[:40]!r}...: expected at most {_LONGEST} characters")
    if not name.isprintable() and any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in name):
        raise ConfigError(f"{what} = {name!r:.60}: expected no control characters and no lone surrogates")
    return name
