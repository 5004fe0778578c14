"""The wordings by which actions, owners and blockers are recognised.

Source: novelty spec, 3.2.1 and 3.2.3. The spec names sixteen verbs and nine blocker keywords as a minimum;
its 5.5 asks for the lists to grow.
"""

from __future__ import annotations

from ebbtide.text.phrases import Anchor, PhraseRule

VAGUE = (
    PhraseRule(
        id="vague.opening",
        pattern=r"consider|think about|explore|look into|investigate",
        anchor=Anchor.TEXT,
    ),
    PhraseRule(id="vague.hedge", pattern=r"maybe|possibly|might|could potentially"),
)

SPEC_VERBS = frozenset(
    "run write create open deploy send test build merge ship implement add remove update fix configure".split()
)

#: Verbs that order something when they open an action. Verbs of thought and talk are left out on purpose.
IMPERATIVE_VERBS = SPEC_VERBS | frozenset(
    """
    abort adjust align allocate alter amend annotate announce append apply approve archive arrange assemble assign
    attach audit automate back backfill backport benchmark bind block book bootstrap bring bump bundle buy cache
    calculate call cancel capture change check choose clean clear clone close collect combine commit compare
    compile complete compress compute connect convert copy correct cover cut cancel debug declare decrease default
    define delegate delete deliver deprecate design detach disable disconnect distribute document download draft
    draw drop dump duplicate edit email embed emit enable encrypt end enforce ensure enter escalate estimate
    evaluate execute expand export expose extend extract fetch file fill filter finalise finalize find finish flag
    flush follow force format forward freeze gather generate get give grant group hand handle harden hide hire hold
    identify import improve include increase index inform initialise initialize inject inline insert inspect
    install instrument integrate introduce invite invoke isolate issue join keep kill label launch lift limit link
    lint list load localise localize lock log lower mail make map mark measure migrate mirror mock modify monitor
    mount move name normalise normalize notify order organise organize outline override pack package parse
    partition paste patch pause pay pick pin ping place plan plot point populate port post prepare present
    prevent print prioritise prioritize process profile promote propose protect provide provision prune publish
    pull purchase purge push put query queue raise randomise randomize rank re-run read rebase rebuild recompute
    record recover recruit redact redeploy redirect reduce refactor refresh refund regenerate register reindex
    reject relabel release reload relocate rename render renew reorder repair repeat replace replay reply report
    reproduce request require rerun reschedule reserve reset resolve restart restore restrict retest retire retrain
    retrieve retry return revert review revise revoke rewrite roll rollback rotate route sample sanitise sanitize
    save scale scan schedule scrape search secure select separate serve set settle share shorten show shrink sign
    simplify simulate skip sort specify spin split squash stage standardise standardize start stop store
    streamline strip stub submit subscribe summarise summarize swap switch sync tag take tell throttle tidy tighten
    time trace track train transfer transform translate trigger trim truncate tune turn unblock undo uninstall
    unlock unpin unsubscribe upgrade upload use validate verify vote wait warm watch wire wrap
    """.split()
)

ARTIFACTS = (
    PhraseRule(id="artifact.url", pattern=r"https?://\S+|www\.\S+"),
    PhraseRule(id="artifact.code", pattern=r"`[^`\n]+`", anchor=Anchor.ANYWHERE),
    PhraseRule(id="artifact.path", pattern=r"(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)*|[\w.-]+/[\w./-]*\w\.\w{1,5}"),
    PhraseRule(
        id="artifact.file",
        pattern=(
            r"[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|scala|sh|sql|md|rst|txt|csv|tsv"
            r"|json|jsonl|ya?ml|toml|ini|cfg|xml|html|css|ipynb|pdf|docx?|xlsx?|pptx?|png|svg|zip|gz|lock|tf)"
        ),
    ),
    PhraseRule(id="artifact.ticket", pattern=r"#\d+|(?-i:[A-Z][A-Z0-9]+-\d+)|gh-\d+"),
    PhraseRule(id="artifact.change", pattern=r"pull requests?|merge requests?|(?-i:PRs?|MRs?)|branch(?:es)?"),
    PhraseRule(id="artifact.flag", pattern=r"--[a-z][\w-]+"),
    PhraseRule(
        id="artifact.command",
        pattern=(
            r"pytest|tox|nox|mypy|ruff|eslint|npm|npx|yarn|pnpm|pip|uv|cargo|gradle|maven|mvn|cmake|makefile|dockerfile"
            r"|docker|kubectl|helm|terraform|ansible|git|curl|psql|systemctl|cron(?:tab)?|airflow|jenkins"
            r"|github actions|postgres(?:ql)?|mysql|sqlite|redis|kafka|nginx|prometheus|grafana"
        ),
    ),
)

OWNERSHIP = (
    PhraseRule(id="owner.mention", pattern=r"@[a-z][\w.-]*"),
    PhraseRule(id="owner.first-person", pattern=r"(?:i|we)(?:['\u2019]ll| will| am going to| are going to)"),
    PhraseRule(
        id="owner.name-does",
        pattern=(
            r"(?-i:(?!(?:This|That|It|There|They|These|Those|Which|What|Who|He|She|You|Need|Try|How|When|Where|Have)\b)"
            r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)?) (?:will|to|shall|is going to)"
        ),
        anchor=Anchor.CLAUSE,
    ),
    PhraseRule(id="owner.label", pattern=r"(?:owner|assignee|dri|responsible)s?(?=\s*[:=(-])"),
    PhraseRule(id="owner.assigned", pattern=r"owned by|assign(?:ed)? to|assigned|is responsible|are responsible"),
    PhraseRule(
        id="owner.name-first",
        pattern=r"(?-i:(?!(?:Action|Step|Next|Todo|Note|Task|Fix|Then|First|Finally)\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?=: )",
        anchor=Anchor.TEXT,
    ),
)

_BLOCKED = (
    r"blocked|blockers?|waiting (?:on|for)|awaiting|depends on|needs? (?:access|permissions?)"
    r"|(?:can['\u2019]?t|cannot|can not) proceed|prerequisites?|missing"
)
_FILLER = (
    r"(?:is|are|was|were|be|been|being|to be|longer|any|further|known|more|currently|really|remaining|open|other|the|a"
    r"|major|critical|hard|outstanding|at all|there|left|now|yet|new|we|it|else)"
)

BLOCKERS = (PhraseRule(id="blocker.keyword", pattern=_BLOCKED),)

NEGATED_BLOCKERS = (
    PhraseRule(
        id="blocker.negated",
        pattern=(
            r"(?:no|not|none|nothing|never|nobody|no one|without|zero|0|isn['\u2019]t|aren['\u2019]t|wasn['\u2019]t"
            rf"|weren['\u2019]t|free of)(?: {_FILLER}){{0,4}} (?:{_BLOCKED})(?:(?:,| or| and|/)+ (?:{_BLOCKED}))*"
        ),
    ),
    PhraseRule(id="blocker.answered-none", pattern=r"(?:blockers?|prerequisites?|missing)\s*[:=\u2013\u2014-]\s*(?:none|no|nothing|n/a)"),
    PhraseRule(id="blocker.free", pattern=r"blocker-free|non-block\w+"),
)
