"""Thresholds of the loop detectors."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ebbtide.checks import flag, number, share, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRules:
    """Thresholds from which repeated calls are a loop. None switches a rule off; counts are of calls.

    Args:
        copies: Equal turns of a cycle, of any period: two are a coincidence, and every system that acts on
            three calls its users' loops by their name.
        max_period: Longest cycle, in calls; longer ones show as monotony.
        interleaved: The same call with the same answer, other calls between them, none of which brought
            anything new. One more than `copies`, so that a cycle is named as one.
        interleaved_with_news: The same where the others brought something new, but nothing that looks like a
            change: looking a thing up twice more is forgetful, six times is stuck.
        unknown_answers: Equal calls of whose answers nothing is known: a suspicion, so that it takes more.
        repeated_changes: One call in a row that is declared to change something, and reports each time that
            it did.
        outcome_again: Attempts that end in the same failure, in the same words, whatever else moves.
        outcome_varied: The same where the words differ in names, and no number got better.
        empty_again: Attempts in which nothing is found.
        nothing_new: Calls in a row whose answers hold no new word, whatever is asked.
        unseen_changes: Looks at a thing that show what they showed before, each after another change of it.
        rewrites: Versions of one file in a row, with nothing but looks between them.
        thoughts: Calls in a row that only note what the model thinks.
        undone_changes: Times that a change is turned round, or made again, after it had been undone.
        known_ground: Steps in a row over known ground, as the agents narrate it: no new search, site or file.
        same_orders: Nearly the same order to an agent in a row, and nothing new comes of it.
        waits: Equal looks with at least `wait_s` between them at something that is still under way.
        waits_s: Seconds after which twelve such looks are enough; a time that a person or an answer named
            holds where it is longer.
        vain_waits: Equal looks, each after a rest, at what nothing of the record has set going.
        vain_wait_s: Seconds that they take at least: less is a look too many, and nothing dear.
        wait_s: Seconds between two looks from which they are waiting.
        polls: The same answer of a tool declared as poll or clock: waiting is its work.
        failing: The same call fails, whatever the text.
        outage: The same failure that says 429 or 5xx, or a poll of it: a service that is down is not the
            agent's doing, and some retries with a pause are right.
        same_error: One tool fails in a row with errors that it gave before, whatever the arguments: a few
            tries at the right arguments are work.
        failing_tool: One tool fails in a row, whatever the arguments and the error.
        same_answer: One tool in a row, other arguments, one answer that is longer than what was asked: five
            are exploration, says the test suite that tried it.
        rewordings: One tool in a row, one answer, arguments of the same words in another order or spacing.
        nearly_same: One tool in a row, one answer, arguments that share at least `shared_words`. It takes
            so many since a batch of commands that all answer "ok" looks the same for its first items.
        shared_words: Share of words, of those in either, from which arguments are nearly the same.
        growing: One tool in a row, each call the one before with something appended.
        sweep_pages: Pages read forward before going back to the start counts as a second sweep.
        covered: Reads of ranges in a row that lie inside what was read before.
        stale: Calls in a row that all were known, with their answers.
        entropy_window: Calls over which the variety of calls and answers is measured.
        entropy_below: Bits of variety under which a full window is monotonous; 2 bits is four equally
            frequent calls.
        handoffs: Equal turns of a cycle of hand-offs, nothing new between them; with something new, twice
            as many.
        chains: Chains of one session in which the same call came twice with the same answer.
        injections: Equal texts that the harness puts in, with nothing done between: three are a check that
            is not passed yet.
        complaints: Equal complaints of the harness in a row, each after another call: what is half done is
            complained of a few times. Those that keep the model from its end count where it has little to do.
        scores: Scores of a hook in a row that come no nearer to the one that it wants.
        idle_agents: Agents in a row that were to change something and answer that they did not; some of them
            started when that was known.
        failed_agents: Agents in a row that answer that they failed, and no more.
        relays: Answers of agents in a row that are handed on to another one, with nothing done.
        unread_agents: Agents that are started in a row before an answer of any is read.
        closed_agents: Agents in a row that are ended before their answer is read.
        refusals: Calls that a service refuses since it has too much to do, with no rest between.
        failed_answers: Calls of the model that bring an error, in a row; a retry of a harness
            counts as a quarter.
        failed_turns: Turns in a row that end with such an error, the words to the model being the same.
        idle_answers: Short answers in a row, without a call, to a person who asks to go on.
        handed_down: Agents of a session with one order, where an agent passed on the order that it was given.
        tree_depth: Levels of agents below the first.
        spawned_again: Agents of one chain whose orders were given in an earlier turn, nothing changed since.
        spawned_alike: Agents of a session with one order, in however many turns: the best of a few is fewer.
        wake_up_late_s: Seconds after its time from which a wake-up is missed.
        forgotten: Contexts, each a condensation apart, in which one call fails with one answer.
        reread: Contexts in a row in which most calls look at what is known, and nothing is changed.
        condensations: Condensations of the context in a row.
        messages: Equal messages or thoughts in a row.
        chant_copies: Copies of a block of words at the end of a text.
        chant_words: Words that those copies must have together while the text streams; half of it in a
            whole message.
        chant_period: Longest such block, in words.
        pause_s: Seconds without an event after which the same call is a new look at things: five minutes,
            from which on reports call polling a schedule.
        budget_usd: Dollars that the chain may cost; None if there is no budget.
        budget_tokens: Tokens of all classes that it may take.
        budget_ends_in_s: Seconds to the end of a budget, at the rate of the last ten minutes, under which
            it is said.
        usd_per_minute: Spending over one minute above which it is reported.
        usd_per_hour: Spending over one hour above which it is reported. Reported runaways spent 36 to 120 USD
            an hour.
        usd_without_news: Spending since the last new result above which it is reported.
        tokens_without_news: Tokens since the last new result above which it is reported, of events whose cost
            is not known. A token read from a cache counts as a tenth: that is its usual price.
        stated_actions: True if actions that agents narrate count, where nobody recorded their calls.
        shipped_tools: True if the shipped declarations of tools hold where the user's say nothing.

    Source: divergence spec, section 5; the numbers are ours, see docs/divergence.md.
    """

    copies: int = 3
    max_period: int = 128
    interleaved: int | None = 4
    interleaved_with_news: int | None = 6
    unknown_answers: int = 4
    repeated_changes: int | None = 12
    outcome_again: int | None = 5
    outcome_varied: int | None = 8
    empty_again: int | None = 4
    nothing_new: int | None = 10
    unseen_changes: int | None = 5
    rewrites: int | None = 5
    thoughts: int | None = 20
    undone_changes: int | None = 3
    known_ground: int | None = 5
    same_orders: int | None = 4
    waits: int | None = 60
    waits_s: float = 3_600.0
    vain_waits: int | None = 5
    vain_wait_s: float = 900.0
    wait_s: float = 25.0
    polls: int | None = 8
    failing: int | None = 3
    outage: int = 6
    same_error: int | None = 4
    failing_tool: int | None = 8
    same_answer: int | None = 6
    rewordings: int | None = 5
    nearly_same: int | None = 12
    shared_words: float = 0.5
    growing: int | None = 8
    sweep_pages: int | None = 8
    covered: int | None = 8
    stale: int | None = 32
    entropy_window: int = 64
    entropy_below: float | None = 2.0
    handoffs: int | None = 3
    chains: int | None = 3
    injections: int | None = 4
    complaints: int | None = 5
    scores: int | None = 8
    idle_agents: int | None = 6
    failed_agents: int | None = 8
    relays: int | None = 5
    unread_agents: int | None = 20
    closed_agents: int | None = 4
    refusals: int | None = 5
    failed_answers: int | None = 8
    failed_turns: int | None = 3
    idle_answers: int | None = 4
    handed_down: int | None = 4
    tree_depth: int | None = 3
    spawned_again: int | None = 4
    spawned_alike: int | None = 9
    wake_up_late_s: float | None = 1_800.0
    forgotten: int | None = 3
    reread: int | None = 2
    condensations: int | None = 10
    messages: int | None = 3
    chant_copies: int | None = 4
    chant_words: int = 24
    chant_period: int = 48
    pause_s: float | None = 300.0
    budget_usd: float | None = None
    budget_tokens: int | None = None
    budget_ends_in_s: float = 600.0
    usd_per_minute: float | None = None
    usd_per_hour: float | None = 30.0
    usd_without_news: float | None = 1.0
    tokens_without_news: int | None = 200_000
    stated_actions: bool = False
    shipped_tools: bool = False

    def __post_init__(self) -> None:
        for part in dataclasses.fields(self):
            value = getattr(self, part.name)
            if value is None and "None" in str(part.type):
                continue
            if part.name in ("shipped_tools", "stated_actions"):
                flag(part.name, value)
            elif str(part.type).startswith("int"):
                whole(
                    part.name, getattr(self, part.name), 3 if part.name in ("copies", "chant_copies") else 1
                )
            elif part.name == "shared_words":
                share(part.name, value)
            else:
                number(part.name, value, least=0, expected="a number, 0 or more")
