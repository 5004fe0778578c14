"""What to install beside Ebbtide for the checks of each adapter, an environment each."""

from __future__ import annotations

from typing import Final

#: Requirements for pip, by the name of the adapter. They name no versions: the newest ones are checked.
ENVIRONMENTS: Final[dict[str, tuple[str, ...]]] = {
    "ag2": ("ag2",),
    "agent_framework": ("agent-framework-core",),
    "agno": ("agno", "openai"),
    "autogen": ("autogen-agentchat", "autogen-ext[openai]"),
    "crewai": ("crewai",),
    "dspy": ("dspy",),
    "google_adk": ("google-adk",),
    "haystack": ("haystack-ai",),
    "inspect_ai": ("inspect-ai",),
    "langchain": ("langchain", "langgraph", "langchain-openai"),
    "litellm": ("litellm", "mcp"),
    "llamaindex": ("llama-index-core",),
    "openai_agents": ("openai-agents",),
    "pydantic_ai": ("pydantic-ai-slim[openai]",),
    "smolagents": ("smolagents",),
    "strands": ("strands-agents",),
}
