"""Runs whose bill can be worked out by hand."""

from __future__ import annotations

import pytest

from ebbtide.budget.bill.bill import Bill, ContextPart, WasteKind
from ebbtide.budget.prices import Prices
from ebbtide.checking import check_events
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Role, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions

#: A dollar for a million fresh tokens, a tenth of it from the cache, five for output.
RATES = {"input": 1.0, "output": 5.0, "cache_read": 0.1, "cache_write": 1.25, "cache_write_1h": 2.0}
OPTIONS = RunOptions(prices=Prices({"m": RATES}, public=False))
MICRO = 1e-6


def bill(*events: Event) -> Bill:
    """The bill of a run."""
    return check_events(events, OPTIONS).bill


def call(
    read: int = 0,
    write: int = 0,
    fresh: int = 0,
    output: int = 0,
    *,
    hour: int | None = None,
    reasoning: int | None = None,
    **rest: object,
) -> ModelCall:
    """A call of the model, with its tokens."""
    usage = Usage(
        model="m",
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=write,
        output_tokens=output,
        reasoning_tokens=reasoning,
        cache_write_1h_tokens=hour,
    )
    fields: dict[str, object] = {"text": "", **rest}
    return ModelCall(usage=usage, **fields)  # type: ignore[arg-type]


def tool(length: int, name: str = "search", **args: object) -> ToolCall:
    """A call of a tool, whose answer has so many characters."""
    return ToolCall(
        name=name, args=args, result=f"{len(args)}{sorted(args.items())}".ljust(length, "x")[:length]
    )


def part(result: Bill, content: ContextPart) -> tuple[float, int]:
    """Dollars and tokens of what was carried."""
    line = next((item for item in result.contents if item.name == content), None)
    return (0.0, 0) if line is None else (line.amount.cost_usd or 0.0, line.amount.tokens)


def test_one_result_is_known_exactly() -> None:
    """The growth less the output is the result: 1,000 tokens, written once and read again twice."""
    result = bill(
        call(write=5_000, output=100),
        tool(4_000, q="a"),
        call(read=5_000, write=1_100, output=50, text="thinking"),
        tool(0, q="b"),
        call(read=6_100, write=50, output=10),
        call(read=6_150, write=10, output=10),
    )
    (event,) = [item for item in result.events if item.event == 2]
    assert (event.size, event.reads, event.is_estimated) == (1_000, 3, False)
    assert event.amount.cost_usd == pytest.approx(1_000 * (1.25 + 0.1 + 0.1) * MICRO)
    assert part(result, ContextPart.INSTRUCTIONS)[1] == 4 * 5_000
    assert part(result, ContextPart.NEW_OUTPUT) == (pytest.approx(170 * 5 * MICRO), 170)


def test_several_results_are_split_by_their_length() -> None:
    """Three times the text has three times the tokens, and both are marked as estimated."""
    result = bill(
        call(fresh=1_000, output=20),
        tool(1_000, q="a"),
        tool(3_000, q="b"),
        call(fresh=1_000 + 20 + 1_000, output=5),
    )
    sizes = {item.event: (item.size, item.is_estimated) for item in result.events if item.tool}
    assert sizes == {2: (pytest.approx(250, abs=2), True), 3: (pytest.approx(750, abs=2), True)}


def test_a_provider_without_a_cache_charges_everything_again() -> None:
    """Each call pays the full price for all that came before it."""
    result = bill(
        call(fresh=1_000, output=100),
        tool(2_000, q="a"),
        call(fresh=1_600, output=100),
        call(fresh=1_700, output=100),
    )
    assert part(result, ContextPart.TOOL_OUTPUT) == (pytest.approx(2 * 500 * MICRO), 1_000)


def test_a_compaction_ends_what_is_carried() -> None:
    """After it, neither results nor words are read again; what is left is a summary."""
    result = bill(
        call(write=5_000, output=10),
        tool(8_000, q="a"),
        call(read=5_000, write=2_010, output=10),
        Notice(kind=NoticeKind.COMPACTION),
        call(read=5_000, write=400, output=10),
        call(read=5_400, write=10, output=10),
    )
    (event,) = [item for item in result.events if item.event == 2]
    assert (event.size, event.reads) == (2_000, 1)
    assert part(result, ContextPart.SUMMARY)[1] == 2 * 400
    assert [(item.event, item.before, item.after) for item in result.compactions] == [(5, 7_010, 5_400)]


def test_a_conversation_beside_it_does_not_end_a_context() -> None:
    """A title for the session is made in a context of its own; the first one goes on."""
    result = bill(
        call(write=9_000, output=10),
        tool(4_000, q="a"),
        call(fresh=300, output=5),
        call(read=9_000, write=1_010, output=10),
        call(read=10_010, write=10, output=10),
    )
    assert result.compactions == ()
    assert part(result, ContextPart.TOOL_OUTPUT)[1] == pytest.approx(2 * 1_000, abs=5)
    assert part(result, ContextPart.SIDE)[1] == 300


def test_a_sub_agent_has_its_own_context() -> None:
    """Its calls come between those of the main chain, and are not mixed with them."""
    result = bill(
        call(write=5_000, output=10),
        call(write=2_000, output=10, chain_id="helper", agent="helper"),
        ToolCall(name="grep", args={"q": "x"}, result="y" * 400, chain_id="helper"),
        call(read=2_000, write=110, output=10, chain_id="helper", agent="helper"),
        tool(2_000, "Task", q="go"),
        call(read=5_000, write=510, output=10),
    )
    assert {item.name: item.count for item in result.agents} == {"": 2, "helper": 2}
    sizes = {item.tool: item.size for item in result.events if item.tool}
    assert sizes == {"grep": 100, "Task": 500}


def test_a_sub_agent_is_named_by_the_task_that_started_it() -> None:
    """In the lines of the agents, and where the sentence says which one took most."""
    result = bill(
        call(write=1_000, output=10),
        call(write=20_000, output=500, chain_id="a7", agent="a7"),
        ToolCall(name="Task", args={"description": "Find b", "prompt": "..."}, result="b", starts="a7"),
        call(read=1_000, write=100, output=10),
    )
    assert [(line.name, line.title) for line in result.agents] == [("a7", "Find b"), ("", "")]
    assert "the agent \u201cFind b\u201d took" in result.sentence


def test_a_sub_agent_without_a_price_has_no_cost() -> None:
    """It took something, and nobody knows how much: its line shows tokens, and no zero."""
    unpriced = ModelCall(
        usage=Usage(model="n", input_tokens=900, output_tokens=100), chain_id="a7", agent="a7"
    )
    result = bill(call(write=1_000, output=10), unpriced)
    lines = {line.name: line.amount for line in result.agents}
    assert (lines["a7"].cost_usd, lines["a7"].tokens) == (None, 1_000)
    assert lines[""].cost_usd == result.total.cost_usd
    assert {line.name: line.amount.cost_usd is None for line in result.models} == {"m": False, "n": True}


def test_a_missed_cache_costs_the_difference_to_a_hit() -> None:
    """After an hour the whole context is written again: 1.15 dollars a million more than a hit."""
    result = bill(
        call(write=10_000, output=10, ts=1_000.0),
        call(write=10_010, output=10, ts=4_600.0),
    )
    assert (result.misses.calls, result.misses.tokens, result.misses.after_pauses) == (1, 10_000, 1)
    assert result.misses.above_hit.cost_usd == pytest.approx(10_000 * 1.15 * MICRO)
    assert [item.kind for item in result.waste] == [WasteKind.CACHE_MISS]
    assert [len(item.events) for item in result.waste] == [min(item.count, 8) for item in result.waste]
    assert result.misses.longest_pause_s == 3_600
    assert result.misses.pauses_above_hit == result.misses.above_hit
    (advice,) = result.suggestions
    assert "1 call came later (after 60 minutes)" in advice.text


@pytest.mark.parametrize(("hour", "after_pauses"), [(None, 1), (0, 1), (9_000, 0)])
def test_a_cache_for_an_hour_outlives_a_pause(hour: int | None, after_pauses: int) -> None:
    """Ten minutes are too long for the usual cache; one that was written for an hour is still there."""
    result = bill(
        call(write=10_000, output=10, hour=hour, ts=1_000.0),
        call(write=10_010, output=10, hour=hour, ts=1_600.0),
    )
    assert (result.misses.calls, result.misses.after_pauses) == (1, after_pauses)


def test_a_repeated_answer_in_a_missed_cache_pays_the_price_of_its_class() -> None:
    """What it cost above a hit is that of its own class, not the mean of all: the rest is what it pays."""
    look = ToolCall(name="read_file", args={"path": "a"}, result="x" * 4_000)
    result = bill(
        call(write=20_000, output=10, hour=20_000, ts=0.0),
        look,
        Message(text="Once more."),
        call(read=20_000, write=1_013, output=10, hour=0, ts=1.0),
        look,
        call(read=21_013, write=1_010, output=10, hour=0, ts=2.0),
        call(write=22_033, output=10, hour=20_000, ts=3.0),
    )
    amounts = {line.kind: line.amount.cost_usd for line in result.waste}
    assert amounts[WasteKind.CACHE_MISS] == pytest.approx((20_000 * 1.9 + 2_023 * 1.15) * MICRO)
    turn = (20_000 * 0.1 + 1_013 * 1.25 + 10 * 5) * MICRO
    carried = 1_000 * (1.25 + 0.1) * MICRO
    assert amounts[WasteKind.SAME_CALL] == pytest.approx(turn + carried, rel=0.01)


def test_advice_names_the_hour() -> None:
    """Who writes for an hour and comes back after two is told so."""
    run = [call(write=50_000, output=10, hour=50_000, ts=7_200.0 * number) for number in range(4)]
    (suggestion,) = bill(*run).suggestions
    assert suggestion.text.startswith("Continue within an hour, or start a new session: 3 calls came later")


def test_classes_show_reasoning_and_the_hour_apart() -> None:
    """Of 5,000 writes 1,000 stay for an hour, at 2 dollars a million; of 100 output tokens 40 are thought."""
    result = bill(call(write=5_000, output=100, hour=1_000, reasoning=40))
    assert {line.name: (line.amount.tokens, line.amount.cost_usd) for line in result.classes} == {
        "cache_write": (4_000, pytest.approx(4_000 * 1.25 * MICRO)),
        "cache_write_1h": (1_000, pytest.approx(1_000 * 2.0 * MICRO)),
        "output": (60, pytest.approx(60 * 5.0 * MICRO)),
        "reasoning": (40, pytest.approx(40 * 5.0 * MICRO)),
    }
    assert result.total.cost_usd == pytest.approx((4_000 * 1.25 + 1_000 * 2.0 + 100 * 5.0) * MICRO)
    assert not result.is_estimated


def test_what_stays_for_longer_stands_first() -> None:
    """The start of the prompt pays the price of an hour, and the result behind it that of five minutes."""
    result = bill(
        call(write=5_000, output=100, hour=5_000),
        tool(4_000, q="a"),
        call(write=6_100, output=10, hour=5_000),
    )
    start, words = (part(result, name)[0] for name in (ContextPart.INSTRUCTIONS, ContextPart.OWN_WORDS))
    assert start == pytest.approx(2 * 5_000 * 2.0 * MICRO)
    assert words + part(result, ContextPart.TOOL_OUTPUT)[0] == pytest.approx(1_100 * 1.25 * MICRO)


def test_a_stated_cost_is_shared_out_by_the_price_of_an_hour() -> None:
    """Nobody knows the model: an hour counts twice the input, as Anthropic charges, and it is estimated."""
    usage = Usage(cost_usd=0.325, cache_write_tokens=200, cache_write_1h_tokens=100)
    result = bill(ModelCall(text="", usage=usage))
    assert {line.name: line.amount.cost_usd for line in result.classes} == {
        "cache_write": pytest.approx(0.125),
        "cache_write_1h": pytest.approx(0.2),
    }
    assert result.is_estimated


def test_an_hour_without_a_price_leaves_the_cost_unknown() -> None:
    """A table that states no price for it says nothing of a call that takes some."""
    options = RunOptions(prices=Prices({"m": {**RATES, "cache_write_1h": 0.0}}, public=False))
    assert check_events([call(write=9, hour=9)], options).bill.total.cost_usd == 0
    del (rates := dict(RATES))["cache_write_1h"]
    options = RunOptions(prices=Prices({"m": rates}, public=False))
    result = check_events([call(write=9, hour=9)], options).bill
    assert (result.total.cost_usd, result.total.tokens) == (None, 9)


def test_understated_output_makes_it_a_lower_bound() -> None:
    """Three tokens cannot be four hundred words: the growth knows better, and the bill says at least."""
    words = "word " * 400
    result = bill(
        call(write=5_000, output=3, text=words),
        tool(2_000, q="a"),
        call(read=5_000, write=1_000, output=3, text="ok"),
    )
    assert result.is_least
    assert result.sentence.startswith("At least ")
    own = next(item for item in result.events if item.content is ContextPart.OWN_WORDS)
    assert own.size == pytest.approx(500, abs=5)
    assert own.is_estimated


def test_dropped_thoughts_are_not_read_again() -> None:
    """Of 900 tokens of output 100 stay, since 800 were thoughts: the result keeps its own."""
    result = bill(
        call(write=5_000, output=900, text="x" * 400),
        Message(text="y" * 400),
        call(read=5_000, write=200, output=10),
    )
    sizes = {item.content: item.size for item in result.events}
    assert sizes[ContextPart.PERSON] == pytest.approx(100, abs=15)


def test_words_that_two_contexts_read_are_charged_in_both() -> None:
    """One agent answers another in one chain: each has its own context, and nothing is charged twice."""
    result = bill(
        call(fresh=1_000, output=700, agent="ana", text="a" * 2_800),
        call(fresh=2_000, output=300, agent="bo", text="b" * 1_200),
        call(fresh=2_100, output=10, agent="ana"),
        call(fresh=2_400, output=10, agent="bo"),
    )
    assert sum(item.amount.tokens for item in result.contents) == result.total.tokens
    assert part(result, ContextPart.OWN_WORDS)[1] > 1_000


def test_spending_in_a_total_is_not_spread() -> None:
    """A sum that is stated at the end is a line of its own, with its reason."""
    result = bill(
        call(write=1_000, output=10),
        Notice(kind=NoticeKind.TOTAL, usage=Usage(cost_usd=2.0)),
    )
    assert result.unattributed.cost_usd == 2.0
    assert [item.name for item in result.why_unattributed] == ["a sum that is stated at the end"]
    assert "cannot be attributed (a sum that is stated at the end)" in result.sentence


def test_nothing_is_known_of_a_run_without_usage() -> None:
    """There is no bill, and no zero."""
    result = bill(Message(text="hi"), tool(100, q="a"))
    assert (result.sentence, result.total.cost_usd, result.suggestions) == ("", None, ())


def test_tokens_are_the_measure_where_no_price_is_known() -> None:
    """Shares are of tokens then, and the sentence speaks of them."""
    usage = Usage(model="nobody-knows", input_tokens=1_000, output_tokens=10)
    result = check_events([ModelCall(text="", usage=usage)], OPTIONS).bill
    assert result.total.cost_usd is None
    assert result.sentence.startswith("1,010 tokens: ")


def test_a_stated_cost_without_prices_is_shared_out_and_marked() -> None:
    """Nobody knows what the classes of that model cost: shares are told as about right."""
    usage = Usage(model="nobody-knows", input_tokens=1_000, output_tokens=1_000, cost_usd=0.60)
    result = check_events([ModelCall(text="", usage=usage)], OPTIONS).bill
    assert result.is_estimated
    assert {item.name: item.amount.cost_usd for item in result.classes} == {
        "input": pytest.approx(0.10),
        "output": pytest.approx(0.50),
    }
    assert ": about " in result.sentence


def test_instructions_that_are_recorded_are_instructions() -> None:
    """A system message in the trace is no tool output."""
    result = bill(Message(text="z" * 4_000, role=Role.SYSTEM), call(fresh=1_000, output=10))
    assert part(result, ContextPart.INSTRUCTIONS)[1] == 1_000


class TestWaste:
    """What calls show to be waste, with the turn that asked for it."""

    def test_a_call_whose_answer_was_known(self) -> None:
        """Its turn was for nothing, and so was carrying its answer."""
        look = ToolCall(name="Read", args={"file_path": "a.py"}, result="x" * 400)
        result = bill(
            call(write=1_000, output=10),
            look,
            call(read=1_000, write=110, output=10),
            look,
            call(read=1_110, write=110, output=10),
        )
        (line,) = result.waste
        turn = (1_000 * 0.1 + 110 * 1.25 + 10 * 5) * MICRO
        carry = 110 * 1.25 * MICRO
        assert (line.kind, line.count, line.events) == (WasteKind.SAME_CALL, 1, (4,))
        assert line.amount.cost_usd == pytest.approx(turn + carry)
        assert result.wasted.cost_usd == line.amount.cost_usd

    def test_the_same_look_after_a_change_is_none(self) -> None:
        """Something was changed in between."""
        look = ToolCall(name="Read", args={"file_path": "a.py"}, result="x" * 400)
        change = ToolCall(name="Write", args={"file_path": "a.py", "content": "new"}, result="ok")
        turns = [call(write=1_000, output=10), look, call(read=1_000, write=110, output=9), change]
        result = bill(
            *turns, call(read=1_110, write=20, output=9), look, call(read=1_130, write=109, output=9)
        )
        assert result.waste == ()

    def test_an_answer_that_the_harness_could_not_use(self) -> None:
        """All of its call is wasted."""
        result = bill(
            call(fresh=1_000, output=100, text="no command"),
            Notice(kind=NoticeKind.NOTE, text="Give exactly one command.", error=True),
            call(fresh=1_120, output=10),
        )
        (line,) = result.waste
        assert line.kind is WasteKind.REFUSED_ANSWER
        assert line.amount.cost_usd == pytest.approx((1_000 + 500 + 100) * MICRO)

    def test_a_list_of_tasks_alone_in_its_turn(self) -> None:
        """The first is a plan; a later one beside a call costs no turn."""
        plan = ToolCall(name="TodoWrite", args={"todos": ["a"]}, result="ok")
        again = ToolCall(name="TodoWrite", args={"todos": ["b"]}, result="ok")
        beside = ToolCall(name="TodoWrite", args={"todos": ["c"]}, result="ok")
        result = bill(
            call(write=1_000, output=10),
            plan,
            call(read=1_000, write=20, output=10),
            again,
            call(read=1_020, write=20, output=10),
            beside,
            tool(40, q="x"),
            call(read=1_040, write=40, output=10),
        )
        (line,) = result.waste
        assert (line.kind, line.count, line.events) == (WasteKind.TODO_LIST, 1, (4,))
        # The 20 new tokens and the list itself would have come with the next call: 1,000 were read once more.
        assert line.amount.cost_usd == pytest.approx(1_000 * 0.1 * MICRO)

    def test_a_report_beside_a_list_is_work(self) -> None:
        """A turn with many words did something."""
        lists = [ToolCall(name="TodoWrite", args={"todos": [text]}, result="ok") for text in "ab"]
        report = call(read=1_000, write=20, output=200, text="What was done. " * 40)
        result = bill(call(write=1_000, output=10), lists[0], report, lists[1], call(read=1_020, write=250))
        assert result.waste == ()

    def test_a_list_does_not_hide_a_miss(self) -> None:
        """The next call would have missed the cache, too."""
        lists = [ToolCall(name="TodoWrite", args={"todos": [text]}, result="ok") for text in "ab"]
        result = bill(
            call(write=10_000, output=10),
            lists[0],
            call(write=10_020, output=10),
            lists[1],
            call(read=10_040),
        )
        amounts = {line.kind: line.amount.cost_usd for line in result.waste}
        assert amounts == {
            WasteKind.CACHE_MISS: pytest.approx(10_000 * 1.15 * MICRO),
            WasteKind.TODO_LIST: pytest.approx(10_000 * 0.1 * MICRO),
        }

    def test_a_file_read_in_slices(self) -> None:
        """From the third piece on; a change begins anew."""
        events: list[Event] = [call(write=1_000, output=10)]
        size = 1_000
        for number in range(4):
            piece = {"file_path": "a.py", "offset": 20 * number, "limit": 20}
            events += [ToolCall(name="Read", args=piece, result=f"{number}" * 400)]
            events += [call(read=size, write=110, output=10)]
            size += 110
        (line,) = bill(*events).waste
        assert (line.kind, line.count, line.events) == (WasteKind.SLICES, 2, (6, 8))

    def test_lines_that_are_read_again_are_no_slices(self) -> None:
        """They lie within lines that were read, so nothing is read on."""
        events: list[Event] = [call(write=1_000, output=10)]
        size = 1_000
        for number, (first, last) in enumerate([(1, 400), (20, 60), (20, 60), (30, 50)]):
            command = {"command": f"sed -n '{first},{last}p' a.py | grep -n {number}"}
            events += [ToolCall(name="Bash", args=command, result=f"{number}" * 400)]
            events += [call(read=size, write=110, output=10)]
            size += 110
        assert bill(*events).waste == ()

    def test_places_far_apart_are_no_slices(self) -> None:
        """Four places of a long file, and four looks at one line, are what was wanted of it."""
        for ranges in ([(1, 40), (900, 940), (400, 440), (2_000, 2_040)], [(n, n) for n in range(4)]):
            events: list[Event] = [call(write=1_000, output=10)]
            size = 1_000
            for first, last in ranges:
                command = {"command": f"sed -n '{first},{last}p' a.py"}
                events += [ToolCall(name="Bash", args=command, result=f"{first}" * 200)]
                events += [call(read=size, write=110, output=10)]
                size += 110
            assert bill(*events).waste == ()

    def test_lines_that_the_run_had_written_itself(self) -> None:
        """It repairs its own edit."""
        first = {"file_path": "a.py", "old_string": "value = None", "new_string": "value = compute()"}
        repair = {"file_path": "a.py", "old_string": "value = compute()", "new_string": "value = count()"}
        result = bill(
            call(write=1_000, output=10),
            ToolCall(name="Edit", args=first, result="edited"),
            call(read=1_000, write=20, output=10),
            ToolCall(name="Edit", args=repair, result="edited again"),
            call(read=1_020, write=20, output=10),
        )
        assert [(line.kind, line.events) for line in result.waste] == [(WasteKind.OWN_EDIT, (4,))]

    def test_what_was_refused_is_asked_for_again(self) -> None:
        """The same refusal for another command."""
        refusal = "Permission to use Bash has been denied."
        result = bill(
            call(write=1_000, output=10),
            ToolCall(name="Bash", args={"command": "rm -r a"}, result=refusal, error=True),
            call(read=1_000, write=30, output=10),
            ToolCall(name="Bash", args={"command": "rm -rf a"}, result=refusal, error=True),
            call(read=1_030, write=30, output=10),
        )
        assert [(line.kind, line.count) for line in result.waste] == [(WasteKind.REFUSED_AGAIN, 1)]
        assert result.failures is not None
        assert result.failures.count == 2


def test_a_new_session_is_advised_where_it_would_have_paid() -> None:
    """Twelve calls of another task read 20,000 tokens of the one before: so much could have been saved."""
    events: list[Event] = [Message(text="first task"), call(write=20_000, output=10)]
    events += [tool(80_000, q="a"), call(read=20_000, write=20_010, output=10)]
    events += [Message(text="Now write the notes of the release.")]
    size = 40_010
    for number in range(12):
        events += [call(read=size, write=20, output=10), tool(40, q=str(number))]
        size += 20
    result = bill(*events)
    (advice,) = [item for item in result.suggestions if "new session" in item.text]
    assert advice.event == 5
    assert advice.saving.cost_usd == pytest.approx(12 * (40_030 - 22_000) * 0.1 * MICRO, rel=0.02)
    for words in ("Yes, go on.", "Now go back and write these notes.", "1. write notes, then release"):
        events[4] = Message(text=words)
        assert not [item for item in bill(*events).suggestions if "new session" in item.text]
    events[4] = Message(text="Now write the notes of the release.")
    events[3] = call(read=20_000, write=20_010, output=10, text="Shall I write the notes?")
    assert not [item for item in bill(*events).suggestions if "new session" in item.text]


def test_a_cost_that_the_provider_states_is_no_lower_bound() -> None:
    """Few stated tokens beside many words: the sum is a lower bound, unless somebody was billed for it."""
    words = "a long answer " * 100
    assert bill(call(write=1_000, output=3, text=words)).is_least
    stated = Usage(model="m", input_tokens=1_000, output_tokens=3, cost_usd=0.02)
    assert not bill(ModelCall(text=words, usage=stated)).is_least


def test_a_call_of_a_tool_pays_for_what_it_states() -> None:
    """Costs that calls of tools state are theirs, and nothing is left over; a repeated one bought nothing."""
    spent = Usage(model="m", input_tokens=1_000, output_tokens=10, cost_usd=0.02)
    look = ToolCall(name="read_file", args={"path": "a"}, result="the same", usage=spent)
    result = bill(look, look, ToolCall(name="write", args={"path": "b"}, result="ok", usage=spent))
    assert {line.name: line.amount.cost_usd for line in result.tools} == {"read_file": 0.04, "write": 0.02}
    assert part(result, ContextPart.TOOL_CALL) == (pytest.approx(0.06), 3 * 1_010)
    assert result.unattributed.tokens == 0
    assert [(line.kind, line.amount.cost_usd, line.count) for line in result.waste] == [
        (WasteKind.SAME_CALL, 0.02, 1)
    ]
    assert result.sentence.startswith(
        "$0.06: 100% for tool calls, 67% for read_file alone; $0.02 for 1 call whose"
    )


def test_a_sum_that_is_stated_at_the_end_did_not_fall_after_the_last_change() -> None:
    """The calls of a printed session state less output than the sum at its end, which has no times."""
    events = [
        call(write=1_000, output=10),
        ToolCall(
            name="Edit", args={"file_path": "a.py", "old_string": "a", "new_string": "b"}, result="done"
        ),
        call(read=1_000, output=10),
    ]
    rest = Notice(kind=NoticeKind.TOTAL, stated=(Usage(model="m", output_tokens=5_000, cost_usd=2.0),))
    assert bill(*events).phases != ()
    assert bill(*events, rest).phases == ()
