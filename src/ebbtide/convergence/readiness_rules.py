"""The wordings by which actions, owners and blockers are recognised.

Source: novelty spec, 3.2.1 and 3.2.3. The spec names sixteen verbs and nine blocker keywords as a minimum;
its 5.5 asks for the lists to grow.
"""

from __future__ import annotations

from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import anywhere, at_clause, at_start

VAGUE = PhraseTable((
    at_start("vague.opening", r"consider|think about|explore|look into|investigate"),
    anywhere("vague.hedge", r"maybe|possibly|might|could potentially"),
))

SPEC_VERBS = frozenset(
    "run write create open deploy send test build merge ship implement add remove update fix configure".split()
)

ARTIFACTS = PhraseTable((
    anywhere("artifact.url", r"https?://\S+|www\.\S+"),
    anywhere("artifact.code", r"`[^`\n]+`"),
    anywhere("artifact.path", r"(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)*|[\w.-]{1,120}/[\w./-]{0,240}\w\.\w{1,5}"),
    anywhere(
        "artifact.file",
        r"[\w-]{1,120}\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|scala|sh|sql|md|rst|txt|csv|tsv"
        r"|json|jsonl|ya?ml|toml|ini|cfg|xml|html|css|ipynb|pdf|docx?|xlsx?|pptx?|png|svg|zip|gz|lock|tf)",
    ),
    anywhere("artifact.ticket", r"#\d+|(?-i:[A-Z][A-Z0-9]+-\d+)|gh-\d+"),
    anywhere("artifact.change", r"pull requests?|merge requests?|(?-i:PRs?|MRs?)|branch(?:es)?"),
    anywhere("artifact.flag", r"--[a-z][\w-]+"),
    anywhere(
        "artifact.command",
        r"pytest|tox|nox|mypy|ruff|eslint|npm|npx|yarn|pnpm|pip|uv|cargo|gradle|maven|mvn|cmake|makefile|dockerfile"
        r"|docker|kubectl|helm|terraform|ansible|git|curl|psql|systemctl|cron(?:tab)?|airflow|jenkins"
        r"|github actions|postgres(?:ql)?|mysql|sqlite|redis|kafka|nginx|prometheus|grafana",
    ),
))

OWNERSHIP = PhraseTable((
    anywhere("owner.mention", r"@[a-z][\w.-]*"),
    anywhere("owner.first-person", r"(?:i|we)(?:['\u2019]ll| will| am going to| are going to)"),
    at_clause(
        "owner.name-does",
        r"(?-i:(?!(?:This|That|It|There|They|These|Those|Which|What|Who|He|She|You|Need|Try|How|When|Where|Have)\b)"
        r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)?) (?:will|to|shall|is going to)",
    ),
    anywhere("owner.label", r"(?:owner|assignee|dri|responsible)s?(?=\s*[:=(-])"),
    anywhere("owner.assigned", r"owned by|assign(?:ed)? to|assigned|is responsible|are responsible"),
    at_start(
        "owner.name-first",
        r"(?-i:(?!(?:Action|Step|Next|Todo|Note|Task|Fix|Then|First|Finally)\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?=: )",
    ),
))

_BLOCKED = (
    r"blocked|blockers?|waiting (?:on|for)|awaiting|depends on|needs? (?:access|permissions?)"
    r"|(?:can['\u2019]?t|cannot|can not) proceed|prerequisites?|missing"
)
_FILLER = (
    r"(?:is|are|was|were|be|been|being|to be|longer|any|further|known|more|currently|really|remaining|open|other|the|a"
    r"|major|critical|hard|outstanding|at all|there|left|now|yet|new|we|it|else)"
)

BLOCKERS = PhraseTable([anywhere("blocker.keyword", _BLOCKED)])

NEGATED_BLOCKERS = (
    anywhere(
        "blocker.negated",
        r"(?:no|not|none|nothing|never|nobody|no one|without|zero|0|isn['\u2019]t|aren['\u2019]t|wasn['\u2019]t"
        rf"|weren['\u2019]t|free of)(?: {_FILLER}){{0,4}} (?:{_BLOCKED})(?:(?:,| or| and|/)+ (?:{_BLOCKED}))*",
    ),
    anywhere(
        "blocker.answered-none",
        r"(?:blockers?|prerequisites?|missing)\s*[:=\u2013\u2014-]\s*(?:none|no|nothing|n/a)",
    ),
    anywhere("blocker.free", r"blocker-free|non-block\w+"),
)
