"""What is a loop, and what is honest work that looks like one: a table of short runs."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.divergence.signals import LoopSignal, Unit
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind

Run = list[Event]


def tool(
    name: str, result: object = None, /, *, error: bool = False, gap: float | None = None, **args: Any
) -> Event:
    return ToolCall(name=name, args=args, result=result, error=error, waited_s=gap)


def said(text: str, part: ModelPart = ModelPart.WHOLE) -> Event:
    return ModelCall(text=text, part=part)


def handoff(source: str, target: str) -> Event:
    return Notice(kind=NoticeKind.HANDOFF, source=source, target=target)


def each(count: int, make: Callable[[int], Event | Iterable[Event]]) -> Run:
    run: Run = []
    for number in range(count):
        events = make(number)
        run.extend([events] if isinstance(events, Event) else events)
    return run


PAGE = [tool("read", f"page {n}", path="log", offset=100 * n, limit=100) for n in range(20)]
TEST = tool("test", "2 failed, in test_cart and test_price", error=True, suite="all")
WORDS = ["votes", "answers", "questions", "polls", "survey"]
RULES = Profile.DEFAULT.divergence
SUSPECTED = RULES.copies + 1  # equal calls of a tool of which nobody knows what it does
LAMENT = "I will mark the task as complete now, and then I am done with all of it. "

LOOPS: dict[str, tuple[LoopKind, Run]] = {
    "one call, one answer": (LoopKind.REPEAT, [tool("ls", "a b", path=".")] * 3),
    "one call without an answer": (LoopKind.REPEAT, [tool("ls", path=".")] * RULES.unknown_answers),
    "one call of which nobody knows what it does": (LoopKind.REPEAT, [tool("t", "x", a=1)] * SUSPECTED),
    "the order of keys does not hide it": (
        LoopKind.REPEAT,
        [
            tool("read", "x", path="a", n=2),
            tool("read", "x", n=2, path="a"),
            tool("read", "x", path="a", n=2),
        ],
    ),
    "thoughts between the calls do not hide it": (
        LoopKind.REPEAT,
        each(3, lambda n: [said(f"thought {n}", ModelPart.THOUGHT), tool("ls", "a b", path=".")]),
    ),
    "two in turn": (LoopKind.CYCLE, [tool("read", "x", path="a"), tool("edit", "no match", error=True)] * 3),
    "five in turn": (LoopKind.CYCLE, [tool("read", f"text {n}", path=str(n)) for n in range(5)] * 3),
    "two answers of one call in turn": (
        LoopKind.CYCLE,
        [tool("gen", "files a b"), tool("gen", "files a c")] * SUSPECTED,
    ),
    "one call among known others": (
        LoopKind.NO_PROGRESS,
        [
            *[tool(name, f"found {name}") for name in "xabxbaxabxax"],
        ],
    ),
    "one look-up among new ones": (
        LoopKind.NO_PROGRESS,
        each(
            6,
            lambda n: [
                tool("read", f"a long text {n}", path=str(n)),
                tool("grep", "app.py: import f", p="f"),
            ],
        ),
    ),
    "one failure, in other words each time": (
        LoopKind.FAILING_CALL,
        each(3, lambda n: tool("run", f"error, the {n}th", error=True, command="x")),
    ),
    "one error, whatever is asked": (
        LoopKind.SAME_ERROR,
        each(4, lambda n: tool("get", f"no document doc-{n} here", error=True, id=f"doc-{n}")),
    ),
    "errors that come back": (
        LoopKind.SAME_ERROR,
        each(5, lambda n: tool("sql", ("no table", "no column")[n % 2], error=True, query=f"select {n} * 7")),
    ),
    "a tool that only fails": (
        LoopKind.FAILING_TOOL,
        each(8, lambda n: tool("sql", f"wrong in way {n * n}", error=True, query=f"select {n * 7919 % 97}")),
    ),
    "one answer, whatever is asked": (
        LoopKind.SAME_ANSWER,
        each(6, lambda n: tool("ask", "There are three tools: read, grep and glob. " * 4, q="abcdef"[n])),
    ),
    "the same words in another order": (
        LoopKind.NEAR_DUPLICATE,
        each(5, lambda n: tool("search", "ten hits", q=" ".join(WORDS[n:] + WORDS[:n]))),
    ),
    "a throw-away word": (
        LoopKind.NEAR_DUPLICATE,
        each(
            12,
            lambda n: tool("sh", "busy", command=f"python status.py --short {'abcdefghijkl'[n] * 4}"),
        ),
    ),
    "calls that grow": (
        LoopKind.GROWING_CALL,
        each(8, lambda n: tool("sh", f"{n} hits", c="ls" + " && grep x y" * n)),
    ),
    "pages read twice": (LoopKind.SWEEP, PAGE + PAGE[:2]),
    "ranges inside what was read": (
        LoopKind.COVERED_RANGE,
        [
            tool("read", "all of it", path="a", offset=0, limit=400),
            *each(8, lambda n: tool("read", f"part {n}", path="a", offset=10 * n, limit=300 - 7 * n)),
        ],
    ),
    "hand-offs in a circle": (
        LoopKind.HANDOFF_CYCLE,
        [handoff(a, b) for a, b in ("ab", "bc", "ca")] * 3,
    ),
    "condensations": (LoopKind.CONDENSATION, [Notice(kind=NoticeKind.COMPACTION)] * 10),
    "one message": (LoopKind.MONOLOGUE, [said("I am waiting for your answer.")] * 3),
    "two messages in turn": (LoopKind.MONOLOGUE, [said("Over to you."), said("No, to you.")] * 3),
    "chanting in a stream": (LoopKind.CHANTING, each(6, lambda _: said(LAMENT, ModelPart.CHUNK))),
    "chanting within a message": (LoopKind.CHANTING, [said("So: " + LAMENT * 5)]),
    "chanting in pieces that cut words": (
        LoopKind.CHANTING,
        [said((LAMENT * 6)[start : start + 7], ModelPart.CHUNK) for start in range(0, 6 * len(LAMENT), 7)],
    ),
    "a service hammered without a pause": (
        LoopKind.REPEAT,
        [tool("get", "429 too many requests", error=True, gap=0.1, url="u")] * 3,
    ),
    "a service that stays down": (
        LoopKind.REPEAT,
        each(6, lambda n: tool("get", "503 unavailable", error=True, gap=4.0 * n, url="u")),
    ),
    "a test that stays red after each edit": (
        LoopKind.RECURRENCE,
        each(5, lambda n: [tool("edit", "ok", path="a", old=f"line {n}", new="y"), TEST]),
    ),
}

WORK: dict[str, Run] = {
    "different files": each(30, lambda n: tool("read", f"text of file {n}", path=f"f{n}")),
    "a poll that moves": each(30, lambda n: tool("status", f"{n} % done", job=7)),
    "one poll in two says nothing new": each(
        12, lambda n: [tool("poll", "no news"), tool("poll", f"built {n} files")]
    ),
    "edit and test, with fewer failures each time": each(
        12,
        lambda n: [
            tool("edit", "ok", path="a", old=f"line {n}", new="x"),
            tool("test", f"{20 - n} failed", error=True),
        ],
    ),
    "a test that is red in another place after each edit": each(
        12,
        lambda n: [
            tool("edit", "ok", path="a", old=f"line {n}", new="y"),
            tool("test", f"1 failed, in {'abcdefghijkl'[n] * 3}", error=True),
        ],
    ),
    "calls whose arguments were not recorded": [ToolCall(name="ls", args=None, result="a b")] * 30,
    "model calls of which nothing is known": [ModelCall()] * 30,
    "edits of one file, all acknowledged": each(
        9,
        lambda n: tool(
            "edit", "File a.py was updated.", path="a.py", old=f"some line {n * n}", new=f"other {n}"
        ),
    ),
    "a batch, all acknowledged": each(20, lambda n: tool("deploy", "done", branch=f"topic-{n}")),
    "pages straight through": PAGE + [tool("read", f"p{n}", path="b", offset=n, limit=1) for n in range(40)],
    "back to the first page once": [*PAGE, PAGE[0]],
    "two passes over a batch": [tool("write", f"wrote {n}", path=f"{n}.md") for n in range(15)] * 2,
    "two turns of a cycle": [tool("a", "x"), tool("b", "y")] * 2,
    "a poll every five minutes": [tool("curl", "running", gap=300, url="job")] * 6,
    "retries with a pause": [
        *each(3, lambda n: tool("get", "503 unavailable", error=True, gap=5.0 * 2**n, url="u")),
        tool("get", "200 ok", gap=40, url="u"),
    ],
    "a new conversation": [*[tool("ls", "a")] * 2, Notice(kind=NoticeKind.RUN_START), *[tool("ls", "a")] * 2],
    "a parallel batch": [ToolCall(name="get", args={"u": 1}, result="x", batch="one")] * 5,
    "a call sent again after a retry": [
        tool("ls", "a"),
        Notice(kind=NoticeKind.RETRY),
        tool("ls", "a"),
        Notice(kind=NoticeKind.RETRY),
        tool("ls", "a"),
    ],
    "a person asks again in other words": each(
        4, lambda n: [Message(text=f"and now {n}?"), tool("get", "same", id=1)]
    ),
    "hand-offs with changes between": each(
        8,
        lambda n: [
            handoff("coder", "reviewer"),
            tool("review", f"a remark that is new, number {n}", id=n),
            handoff("reviewer", "coder"),
        ],
    )[:12],
    "a round of agents that talk": each(
        30,
        lambda n: [
            said(f"remark {n}"),
            handoff("abc"[n % 3], "abc"[(n + 1) % 3]),
        ],
    ),
    "equal messages with calls between": each(
        9, lambda n: [said("Let me look."), tool("read", f"text {n}", path=str(n))]
    ),
    "a list with a long common beginning": [
        said("".join(f"- projects/my-cloud-project/locations/central/services/{n}\n" for n in range(40)))
    ],
    "a table": [said("| a | b |\n|---|---|\n" + "| one of the rows | that are alike |\n" * 30)],
    "code between fences": [said("```\n" + "x = compute(x, y, z)\n" * 40 + "```\n")],
    "a rule in pieces": each(30, lambda _: said("----------", ModelPart.CHUNK)),
    "words that once repeated": [
        said("try again now " * 6 + "but then I found the answer to your question in the docs")
    ],
}


@pytest.mark.clause("D10")
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_found(name: str) -> None:
    """Each kind of loop is told, by its kind, with the last event of the shortest run that shows it."""
    kind, run = LOOPS[name]
    signals = find_loops(run)
    assert {signal.kind for signal in signals} == {kind}
    assert signals[0].report == 1
    if kind is not LoopKind.CHANTING:
        assert signals[0].last_event == len(run)


@pytest.mark.parametrize("name", WORK)
def test_work_is_left_alone(name: str) -> None:
    """What only looks like a loop raises nothing, at any event."""
    assert find_loops(WORK[name]) == []


DECLARED = ToolPolicies(
    {
        "poll": ToolPolicy(effect=Effect.POLL),
        "sleep": ToolPolicy(effect=Effect.WAIT),
        "now": ToolPolicy(effect=Effect.CLOCK),
        "look": ToolPolicy(effect=Effect.READ),
        "edit": ToolPolicy(effect=Effect.CHANGE),
        "note": ToolPolicy(effect=Effect.ACKNOWLEDGE),
        "job": ToolPolicy(volatile_fields=("ms", "id")),
        "send": ToolPolicy(key_fields=("to",)),
        "step": ToolPolicy(exempt=True),
        "slow": ToolPolicy(repeats_at_least=6, failures_at_least=7),
        "search_*": ToolPolicy(group="search"),
    }
)


def declared(run: Run) -> list[LoopSignal]:
    return find_loops(run, tools=DECLARED)


@pytest.mark.parametrize(
    ("run", "first"),
    [
        pytest.param([tool("poll", "running")] * 8, RULES.polls, id="a poll takes more patience"),
        pytest.param(
            [tool("poll", "running"), tool("sleep", "ok", s=5)] * RULES.waits,
            2 * RULES.waits - 1,
            id="waiting takes the most patience",
        ),
        pytest.param([tool("sleep", "ok", s=5)] * 50, None, id="waiting alone is no loop"),
        pytest.param(
            each(8, lambda n: tool("now", f"{n} o'clock")), 8, id="asking for the time is no progress"
        ),
        pytest.param(
            each(6, lambda n: tool("look", "-", q=f"a long question {n}")), 6, id="a read with one answer"
        ),
        pytest.param(
            each(30, lambda n: tool("note", "a long acknowledgement", q=n)), None, id="acknowledged"
        ),
        pytest.param(
            each(30, lambda n: tool("job", f'{{"ok": 1, "ms": {n}}}')), SUSPECTED, id="volatile fields"
        ),
        pytest.param(each(9, lambda n: tool("send", "ok", to="a", id=n)), SUSPECTED, id="key fields"),
        pytest.param([tool("step", "ok")] * 99, None, id="exempt"),
        pytest.param([tool("slow", "ok")] * 6, 6, id="a threshold of its own"),
        pytest.param(
            each(30, lambda n: [tool("edit", "ok", line=n), tool("slow", f"{30 - n} red", error=True)]),
            None,
            id="landed changes that help",
        ),
        pytest.param(
            each(30, lambda n: [tool("edit", "ok", line=n), tool("slow", "red", error=True)]),
            2 * RULES.outcome_again,
            id="landed changes that do not",
        ),
        pytest.param(  # the first of them makes everything new
            [tool("edit", "ok", line=1)] * 14, (RULES.repeated_changes or 0) + 1, id="one change, again"
        ),
        pytest.param(
            [tool("sh", "busy", command="sleep 20; cat status.json")] * 9, RULES.polls, id="a look that waits"
        ),
    ],
)
def test_what_is_declared_counts(run: Run, first: int | None) -> None:
    """The effect, the fields and the thresholds of a tool are taken from its declaration."""
    signals = declared(run)
    assert (signals[0].last_event if signals else None) == first


@pytest.mark.clause("D11")
def test_names_that_differ_in_a_version_do_the_same() -> None:
    """Calls of call_api_v1, v2 and so on with the same arguments are near-duplicates."""
    run = [tool(f"call_api_v{n}", customer="c-17 in Bonn") for n in range(1, 6)]
    assert [signal.kind for signal in find_loops(run)] == [LoopKind.NEAR_DUPLICATE]
    assert find_loops([tool(f"step_{n}", customer="c-17 in Bonn") for n in range(1, 6)]) == []


@pytest.mark.clause("D11")
def test_calls_whose_arguments_barely_differ_need_one_answer() -> None:
    """Near-duplicates speak only as long as the answer stays; a number that differs is another item."""
    worded = [
        "open the cold cache",
        "open the, cold cache",
        "cold cache: open the",
        "the cold cache open",
        "open cold the cache",
    ]
    assert [s.kind for s in find_loops([tool("do", "ok", q=q) for q in worded])] == [LoopKind.NEAR_DUPLICATE]
    assert find_loops([tool("do", f"ok {n}", q=q) for n, q in enumerate(worded)]) == []
    assert find_loops([tool("do", "ok", q=f"set the flag of user {n} to on") for n in range(30)]) == []


@pytest.mark.clause("D14")
def test_names_of_a_group_count_as_one() -> None:
    """search_web and search_docs, declared as one group, are the same call."""
    run = [tool(name, "a hit", q="x") for name in ("search_web", "search_docs") * 2]
    assert [signal.kind for signal in declared(run)] == [LoopKind.REPEAT]
    assert find_loops(run) == []


@pytest.mark.clause("D12")
def test_a_call_spread_over_chains_is_found() -> None:
    """Three chains that each come twice to one answer are a loop of the session; reading it once is none."""

    def chain(name: str, times: int) -> Run:
        return [ToolCall(name="get", args={"id": 7}, result="two open tickets", chain_id=name)] * times

    assert find_loops([*chain("a", 1), *chain("b", 1), *chain("c", 1), *chain("d", 1)]) == []
    assert find_loops([*chain("a", 2), *chain("b", 2)]) == []
    signals = find_loops([*chain("z", 1), *chain("a", 2), *chain("b", 2), *chain("c", 2)])
    assert [(signal.kind, signal.chain_id) for signal in signals] == [(LoopKind.ACROSS_CHAINS, "c")]


@pytest.mark.clause("D12")
def test_agents_that_repeat_themselves_go_in_a_circle() -> None:
    """Words do not hide a circle of hand-offs once they were said before; new words end it."""
    turn = [said("Over to you."), *[handoff(a, b) for a, b in ("ab", "ba")]]
    profile = Profile(name="hand-offs", divergence=LoopRules(messages=None))
    assert {signal.kind for signal in find_loops(turn * 4, profile)} == {LoopKind.HANDOFF_CYCLE}
    assert find_loops([*turn * 2, said("I have found it."), *turn * 2], profile) == []


@pytest.mark.clause("D12")
def test_agents_that_act_in_turn_hand_over() -> None:
    """Where events name their agent, a change of agent is a hand-off."""
    run = [ToolCall(name=f"{agent}-{n}", result=f"r{n}", agent=agent) for n in range(12) for agent in "ab"]
    assert {signal.kind for signal in find_loops(run)} == {LoopKind.HANDOFF_CYCLE}


@pytest.mark.clause("D13")
def test_a_window_of_known_calls_is_monotonous() -> None:
    """Thirty-two calls that were all known, in no order, are told as monotony or as a lack of progress."""
    order = [n * n * 7 % 31 % 12 for n in range(120)]
    profile = Profile(name="calls", divergence=replace(RULES, nothing_new=None))
    run = [tool("read", f"text {n}", path=f"file {n}") for n in order]
    kinds = {signal.kind for signal in find_loops(run, profile)}
    assert kinds <= {LoopKind.MONOTONY, LoopKind.NO_PROGRESS, LoopKind.CYCLE}
    assert kinds


@pytest.mark.clause("D13")
def test_a_window_of_low_entropy_is_monotonous() -> None:
    """Few calls that vary, and now and then a new one that hides them from every other rule."""
    others_off = LoopRules(interleaved=None, interleaved_with_news=None, nothing_new=None, stale=None)
    run: Run = []
    for n in range(160):
        way = ("up", "down")[(n * n // 3 + n // 7) % 2]
        run.append(
            tool("move", f"moved {way}", way=way) if n % 8 else tool("look", f"a view of place {n}", q=n)
        )
    signals = find_loops(run, Profile(name="entropy", divergence=others_off))
    monotony = [signal for signal in signals if signal.kind is LoopKind.MONOTONY]
    assert monotony
    measure = monotony[0].measure
    assert measure is not None
    assert measure.quantity is Unit.BITS
    assert measure.value < measure.limit == 2
    assert monotony[0].copies == 64


def test_a_call_may_be_in_every_batch() -> None:
    """The same call twice in one batch counts once, and in the next batch again, whatever came before it."""
    run = [
        ToolCall(name=name, args={"u": 1}, result="x", batch=f"batch {number}")
        for number in range(SUSPECTED)
        for name in ("get", "look", "get")
    ]
    (signal,) = find_loops(run)
    assert (signal.kind, signal.period, signal.copies) == (LoopKind.CYCLE, 2, SUSPECTED)


def test_a_long_cycle_is_suspected_before_it_is_proven() -> None:
    """Ten looks at known things hold nothing new; three equal turns of seven calls are a cycle."""
    run = [tool("read", f"text {n}", path=str(n)) for n in range(7)] * RULES.copies
    assert [(signal.kind, signal.last_event, signal.is_proof) for signal in find_loops(run)] == [
        (LoopKind.STAGNATION, 7 + (RULES.nothing_new or 0), False),
        (LoopKind.CYCLE, 7 * RULES.copies, True),
    ]


@pytest.mark.parametrize(
    ("run", "first", "is_proof"),
    [
        pytest.param([tool("look", "a", q=1)] * 9, RULES.copies, True, id="a look"),
        pytest.param([tool("t", "it broke", error=True, q=1)] * 9, RULES.copies, True, id="a failure"),
        pytest.param([tool("t", "a", q=1)] * 9, SUSPECTED, False, id="an unknown effect"),
        pytest.param([tool("look", q=1)] * 9, RULES.unknown_answers, False, id="an unknown answer"),
        pytest.param(
            each(9, lambda n: tool("look", f"receipt x{n}k{n}q", q=1)), SUSPECTED, False, id="generated names"
        ),
        pytest.param(
            each(9, lambda n: tool("look", f"2 hits in {n}.5s", q=1)), RULES.copies, True, id="durations"
        ),
    ],
)
def test_what_a_repeat_proves(run: Run, first: int, is_proof: bool) -> None:
    """Equal known answers of a look or a failure are proof; all else is suspected one copy later."""
    signal = declared(run)[0]
    assert (signal.kind, signal.last_event, signal.is_proof) == (LoopKind.REPEAT, first, is_proof)


def test_calls_without_recorded_arguments_are_counted() -> None:
    """They are equal to nothing, and the chain says how many there were."""
    monitor = LoopMonitor()
    for event in [ToolCall(name="ls", args=None, result="a b")] * 5:
        assert monitor.update(event) == ()
    chain = monitor.chain("")
    assert chain is not None
    assert (chain.unrecorded, monitor.degraded) == (5, 0)


@pytest.mark.parametrize(("effect", "first"), [(Effect.CHANGE, None), (Effect.READ, 8)])
def test_a_declared_change_makes_what_follows_a_new_look(effect: Effect, first: int | None) -> None:
    """A check with one answer is a repeat among looks, and a new look after each change."""
    tools = ToolPolicies({"act": ToolPolicy(effect=effect), "check": ToolPolicy(effect=Effect.READ)})
    run = each(4, lambda n: [tool("act", f"line {n} done", n=n * n), tool("check", "all green", of="a.py")])
    rules = replace(RULES, interleaved_with_news=4)
    signals = find_loops(run, Profile(name="looks", divergence=rules), tools=tools)
    assert (signals[0].last_event if signals else None) == first


@pytest.mark.parametrize("between", ["\n\n", " ", "\n<hook_context>"])
def test_our_notes_in_answers_hide_no_loop(between: str) -> None:
    """Some agents put what the model is told into the answer of a tool: the answer is the same without it."""
    monitor = LoopMonitor()
    end = "\n</hook_context>" if "<" in between else ""
    notes = ("", f"{between}[ebbtide] It is known.{end}", f"{between}[ebbtide] Try something else.{end}", "")
    calls = [ToolCall(name="ls", args={"path": "."}, result=f"a.txt{note}") for note in notes]
    signals = [signal.kind for call in calls for signal in monitor.update(call)]
    assert LoopKind.REPEAT in signals
