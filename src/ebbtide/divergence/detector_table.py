"""The detectors of loops, a row each, in the order in which they explain best.

The first that speaks is heard. A detector excuses others where something that it explains is nothing to them:
waiting is no repeat. Those that it excuses do not see the event at all. All others see it, so that they count
on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntFlag, auto
from typing import Final

from ebbtide.divergence.chain_memory import ChainMemory, Detector
from ebbtide.divergence.detectors.across_chains import AcrossChains, known_spread
from ebbtide.divergence.detectors.again import Again, known_failing_call, known_no_progress
from ebbtide.divergence.detectors.complaints import Complaints, known_complaint
from ebbtide.divergence.detectors.errands import (
    Errands,
    known_failed_agent,
    known_idle_agent,
    known_relay,
    known_unread_agent,
)
from ebbtide.divergence.detectors.failing import FailingTools, known_failing_tool, known_same_error
from ebbtide.divergence.detectors.forgotten import Forgotten, RereadContexts, known_forgotten, known_reread
from ebbtide.divergence.detectors.hand_offs import HandOffs, known_hand_off
from ebbtide.divergence.detectors.idle_answers import IdleAnswers, known_idle_answer
from ebbtide.divergence.detectors.injections import Injections, known_injection
from ebbtide.divergence.detectors.monotony import Monotony, known_monotony
from ebbtide.divergence.detectors.readback import ReadBack, known_unseen_change
from ebbtide.divergence.detectors.recurrence import Recurrences, known_recurrence
from ebbtide.divergence.detectors.refusals import Refusals, Silence, known_refusal, known_silence
from ebbtide.divergence.detectors.rewritten import Rewritten, known_rewritten
from ebbtide.divergence.detectors.same_tool import (
    SameTool,
    known_growing_call,
    known_near_duplicate,
    known_same_answer,
)
from ebbtide.divergence.detectors.spawns import (
    Spawns,
    known_deep_tree,
    known_order_handed_down,
    known_spawn_again,
)
from ebbtide.divergence.detectors.speech import Speech, known_chant, known_condensation, known_monologue
from ebbtide.divergence.detectors.spend import (
    Spend,
    known_budget_end,
    known_spend_rate,
    known_spend_without_news,
)
from ebbtide.divergence.detectors.stagnation import Stagnation, known_stagnation
from ebbtide.divergence.detectors.stated import Stated, known_ground, known_order
from ebbtide.divergence.detectors.sweep import Sweeps, known_covered_range, known_sweep
from ebbtide.divergence.detectors.thoughts import Thoughts, known_thought
from ebbtide.divergence.detectors.turns import Turns, known_cycle, known_repeat
from ebbtide.divergence.detectors.undone import Undone, known_undone_change
from ebbtide.divergence.detectors.waiting import Waits, known_vain_wait, known_wait
from ebbtide.divergence.detectors.wake_ups import WakeUps, known_missed_wake_up
from ebbtide.events.event import Event
from ebbtide.profile.loop_kinds import LoopKind


class Sees(Enum):
    """The events that a detector sees."""

    CALL = auto()  #: calls of tools that have ended and can be read
    TALK = auto()  #: texts of models, and notices
    TOLD = auto()  #: texts of models, before anything else sees them
    USAGE = auto()  #: events that state what they took
    SPAWN = auto()  #: agents that are started
    ERRAND = auto()  #: calls that start an agent, speak with one, end it or bring its answer
    TIME = auto()  #: every event, while a time is awaited


class Trait(IntFlag):
    """Properties of a call without which a detector has nothing to say about it."""

    KNOWN = auto()  #: it came before
    LOOK = auto()  #: it looks at something that takes its time
    NUMBERS = auto()  #: there are whole numbers among its arguments
    CHANGE = auto()  #: it is known to change something
    NO_READ = auto()  #: it is not known that it only reads
    FAILURE = auto()  #: it, or one before it in the chain, failed or came back empty


class Restart(Enum):
    """After what a detector begins afresh."""

    PAUSE = auto()  #: so much time that the same call is a new look at things
    CHANGE = auto()  #: a call that is declared to change something, and did
    TASK = auto()  #: new words of a person
    RUN = auto()  #: the start of a run


class Mender(Enum):
    """Who can mend a loop."""

    MODEL = auto()  #: the model that goes in circles, once it hears of it
    PERSON = auto()  #: a person alone: what keeps it going is outside of the model's reach


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRow:
    """A kind of loop.

    Args:
        kind: The kind.
        settings: Its thresholds, fields of `LoopRules`.
        sentence: What happened, for people: with the tools, the count, and what is the same.
        nudge: What its mender is to hear.
        known_loop: Makes the events of a run that holds it, by their number from 0.
        needs: Settings of which one has to be on, or the kind is never found.
        mender: Who can mend it.
    """

    kind: LoopKind
    settings: tuple[str, ...]
    sentence: str
    nudge: str
    known_loop: Callable[[int], Event]
    needs: tuple[str, ...] = ()
    mender: Mender = Mender.MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorRow:
    """A detector.

    Args:
        name: Its name, also in the state of a chain.
        make: Makes one for a chain.
        sees: The events that it sees.
        needs: Of calls, those that have one of these traits; None for all.
        loops: What it finds.
        excuses: Detectors further down that do not see an event that it explains.
        forgets: After what it begins afresh.
    """

    name: str
    make: Callable[[ChainMemory], Detector]
    sees: Sees
    loops: tuple[LoopRow, ...]
    needs: Trait | None = None
    excuses: frozenset[str] = frozenset()
    forgets: tuple[Restart, ...] = ()


EVERYTHING: Final = frozenset({"*"})  #: all detectors further down

DETECTORS: Final = (
    DetectorRow(
        name="waiting",
        make=Waits,
        sees=Sees.CALL,
        needs=Trait.LOOK,
        excuses=EVERYTHING,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.WAITING,
                settings=("waits", "waits_s", "wait_s", "polls"),
                sentence="{tools} checked the same state {n} times",
                nudge="Nothing has changed for a long time. Wait longer between two checks.",
                known_loop=known_wait,
            ),
            LoopRow(
                kind=LoopKind.VAIN_WAIT,
                settings=("vain_waits", "vain_wait_s"),
                sentence="{tools} checked {n} times, with pauses, for something that nothing here started",
                nudge="Waiting will not help. Find out who has to do it, do it yourself, or ask.",
                known_loop=known_vain_wait,
            ),
        ),
    ),
    DetectorRow(
        name="refusals",
        make=Refusals,
        sees=Sees.CALL,
        needs=Trait.FAILURE,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.REFUSALS,
                settings=("refusals",),
                sentence="{tools} called an overloaded service {n} times without a pause",
                nudge="The service is at its limit and refuses calls. Wait as long as it says, or skip it.",
                known_loop=known_refusal,
            ),
        ),
    ),
    DetectorRow(
        name="turns",
        make=Turns,
        sees=Sees.CALL,
        needs=Trait.KNOWN,
        excuses=frozenset({"again", "monotony"}),
        loops=(
            LoopRow(
                kind=LoopKind.REPEAT,
                settings=("copies", "unknown_answers", "repeated_changes", "outage"),
                sentence="{tools} {n} times in a row, same arguments, {same} result",
                nudge="The same call returned the same result again. Repeating it will not change it.",
                known_loop=known_repeat,
            ),
            LoopRow(
                kind=LoopKind.CYCLE,
                settings=("copies", "max_period", "unknown_answers"),
                sentence="{tools} in turn, {n} times, {same} results",
                nudge="The same calls returned the same results in turn, several times.",
                known_loop=known_cycle,
            ),
        ),
    ),
    DetectorRow(
        name="again",
        make=Again,
        sees=Sees.CALL,
        needs=Trait.KNOWN,
        excuses=frozenset({"monotony"}),
        loops=(
            LoopRow(
                kind=LoopKind.NO_PROGRESS,
                settings=("interleaved", "interleaved_with_news"),
                sentence="{tools} {n} times with other calls in between, same arguments, {same} result",
                nudge="This call keeps returning the same result, and nothing done in between changed it.",
                known_loop=known_no_progress,
            ),
            LoopRow(
                kind=LoopKind.FAILING_CALL,
                settings=("failing",),
                sentence="{tools} sent {n} times unchanged, and failed every time",
                nudge="This call keeps failing. Sending it again unchanged will not help.",
                known_loop=known_failing_call,
            ),
        ),
    ),
    DetectorRow(
        name="forgotten",
        make=Forgotten,
        sees=Sees.CALL,
        needs=Trait.FAILURE,
        forgets=(Restart.CHANGE, Restart.TASK),
        loops=(
            LoopRow(
                kind=LoopKind.FORGOTTEN,
                settings=("forgotten",),
                sentence="{tools} failed in the same way in {n} contexts, each after a condensation",
                nudge="This was tried before the context was condensed. Check whether it is already done.",
                known_loop=known_forgotten,
            ),
        ),
    ),
    DetectorRow(
        name="same_tool",
        make=SameTool,
        sees=Sees.CALL,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.PAUSE, Restart.CHANGE),
        loops=(
            LoopRow(
                kind=LoopKind.SAME_ANSWER,
                settings=("same_answer",),
                sentence="{tools} {n} times in a row, different arguments, {same} result",
                nudge="This tool returns the same result for any arguments.",
                known_loop=known_same_answer,
            ),
            LoopRow(
                kind=LoopKind.NEAR_DUPLICATE,
                settings=("rewordings", "nearly_same", "shared_words"),
                sentence="{tools} {n} times in a row, nearly the same arguments, {same} result",
                nudge="These calls barely differ, and their results are the same.",
                known_loop=known_near_duplicate,
            ),
            LoopRow(
                kind=LoopKind.GROWING_CALL,
                settings=("growing",),
                sentence="{tools} {n} times in a row, each call longer than the previous call",
                nudge="Each call repeats the previous call and appends to it.",
                known_loop=known_growing_call,
            ),
        ),
    ),
    DetectorRow(
        name="sweep",
        make=Sweeps,
        sees=Sees.CALL,
        needs=Trait.NUMBERS,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.CHANGE, Restart.RUN),
        loops=(
            LoopRow(
                kind=LoopKind.SWEEP,
                settings=("sweep_pages",),
                sentence="{tools} read the same {n} pages again from the start",
                nudge="These pages were already read to the end, with the same content.",
                known_loop=known_sweep,
            ),
            LoopRow(
                kind=LoopKind.COVERED_RANGE,
                settings=("covered",),
                sentence="{tools} read ranges {n} times that had already been read",
                nudge="These ranges lie inside what was already read.",
                known_loop=known_covered_range,
            ),
        ),
    ),
    DetectorRow(
        name="failing",
        make=FailingTools,
        sees=Sees.CALL,
        needs=Trait.FAILURE,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.CHANGE, Restart.RUN),
        loops=(
            LoopRow(
                kind=LoopKind.SAME_ERROR,
                settings=("same_error", "outcome_again"),
                sentence="{tools} failed {n} times in a row with the same errors",
                nudge="This tool fails in the same way for any arguments.",
                known_loop=known_same_error,
            ),
            LoopRow(
                kind=LoopKind.FAILING_TOOL,
                settings=("failing_tool", "outcome_varied"),
                sentence="{tools} failed {n} times in a row",
                nudge="This tool keeps failing in one way or another.",
                known_loop=known_failing_tool,
            ),
        ),
    ),
    DetectorRow(
        name="stagnation",
        make=Stagnation,
        sees=Sees.CALL,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.STAGNATION,
                settings=("nothing_new",),
                sentence="{n} calls returned nothing new ({tools})",
                nudge="The last results contained nothing new.",
                known_loop=known_stagnation,
            ),
        ),
    ),
    DetectorRow(
        name="recurrence",
        make=Recurrences,
        sees=Sees.CALL,
        needs=Trait.FAILURE,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.RECURRENCE,
                settings=("outcome_again", "outcome_varied", "empty_again"),
                sentence="{tools}: {n} attempts ended in the same way, whatever was tried",
                nudge="Several attempts in a row ended in the same way, so what was varied is not the cause.",
                known_loop=known_recurrence,
            ),
        ),
    ),
    DetectorRow(
        name="rewritten",
        make=Rewritten,
        sees=Sees.CALL,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.REWRITTEN,
                settings=("rewrites",),
                sentence="{tools} rewrote one file {n} times, and nothing else was done",
                nudge="This file was rewritten again. Take the first step that it names.",
                known_loop=known_rewritten,
            ),
        ),
    ),
    DetectorRow(
        name="thoughts",
        make=Thoughts,
        sees=Sees.CALL,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.THOUGHTS,
                settings=("thoughts",),
                sentence="{tools} {n} times in a row, and nothing was done",
                nudge="More thoughts bring nothing new. Act on one of them, or ask.",
                known_loop=known_thought,
            ),
        ),
    ),
    DetectorRow(
        name="undone",
        make=Undone,
        sees=Sees.CALL,
        needs=Trait.CHANGE,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.UNDONE_CHANGES,
                settings=("undone_changes",),
                sentence="{tools} changed the same thing back and forth {n} times",
                nudge="The same change is made and undone in turn. Decide first what it should be.",
                known_loop=known_undone_change,
            ),
        ),
    ),
    DetectorRow(
        name="readback",
        make=ReadBack,
        sees=Sees.CALL,
        needs=Trait.KNOWN | Trait.NO_READ,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.UNSEEN_CHANGES,
                settings=("unseen_changes",),
                sentence="{tools} showed the same content {n} times, each time after another change to it",
                nudge="The changes do not show. Something resets them, or they go to the wrong place. "
                "Find out which first.",
                known_loop=known_unseen_change,
            ),
        ),
    ),
    DetectorRow(
        name="across_chains",
        make=AcrossChains,
        sees=Sees.CALL,
        needs=Trait.KNOWN,
        excuses=frozenset({"monotony"}),
        forgets=(Restart.CHANGE,),
        loops=(
            LoopRow(
                kind=LoopKind.ACROSS_CHAINS,
                settings=("chains",),
                sentence="{tools} in several agents' runs, {n} times, {same} result",
                nudge="Several runs of this session repeat the same call with the same result.",
                known_loop=known_spread,
            ),
        ),
    ),
    DetectorRow(
        name="monotony",
        make=Monotony,
        sees=Sees.CALL,
        loops=(
            LoopRow(
                kind=LoopKind.MONOTONY,
                settings=("stale", "entropy_window", "entropy_below"),
                sentence="{n} calls that brought nothing new",
                nudge="The last calls brought nothing new.",
                known_loop=known_monotony,
            ),
        ),
    ),
    DetectorRow(
        name="hand_offs",
        make=HandOffs,
        sees=Sees.TALK,
        forgets=(Restart.CHANGE, Restart.RUN),
        loops=(
            LoopRow(
                kind=LoopKind.HANDOFF_CYCLE,
                settings=("handoffs",),
                sentence="agents passed the work around in a circle {n} times",
                nudge="The agents pass the work around without progress.",
                known_loop=known_hand_off,
            ),
        ),
    ),
    DetectorRow(
        name="injections",
        make=Injections,
        sees=Sees.TALK,
        forgets=(Restart.RUN,),
        loops=(
            LoopRow(
                kind=LoopKind.INJECTION,
                settings=("injections", "shared_words"),
                sentence="{tools} inserted the same text {n} times, and nothing was done in between",
                nudge="The model cannot end this. Change or clear the hook, goal or command that inserts the "
                "text, or do what the text asks for.",
                known_loop=known_injection,
                mender=Mender.PERSON,
            ),
        ),
    ),
    DetectorRow(
        name="complaints",
        make=Complaints,
        sees=Sees.TALK,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.COMPLAINT,
                settings=("complaints", "scores"),
                sentence="{tools} repeated the same complaint {n} times, whatever was changed",
                nudge="No change satisfies it. Look at what it checks, and remove what nobody here can fix.",
                known_loop=known_complaint,
                mender=Mender.PERSON,
            ),
        ),
    ),
    DetectorRow(
        name="silence",
        make=Silence,
        sees=Sees.TALK,
        loops=(
            LoopRow(
                kind=LoopKind.NO_ANSWERS,
                settings=("failed_answers", "failed_turns"),
                sentence="the model service returned an error {n} times in a row",
                nudge="The model does not respond. Check its limit or service, and stop calls until then.",
                known_loop=known_silence,
                mender=Mender.PERSON,
            ),
        ),
    ),
    DetectorRow(
        name="idle_answers",
        make=IdleAnswers,
        sees=Sees.TALK,
        forgets=(Restart.RUN,),
        loops=(
            LoopRow(
                kind=LoopKind.IDLE_ANSWERS,
                settings=("idle_answers",),
                sentence="{n} short replies in a row to a person who asks to continue, and nothing was done",
                nudge="The model says that it begins, and calls no tool. Check its tools, or restart it.",
                known_loop=known_idle_answer,
                mender=Mender.PERSON,
            ),
        ),
    ),
    DetectorRow(
        name="spawns",
        make=Spawns,
        sees=Sees.SPAWN,
        forgets=(Restart.CHANGE, Restart.TASK),
        loops=(
            LoopRow(
                kind=LoopKind.HANDED_DOWN,
                settings=("handed_down",),
                sentence="{n} agents with the same order: an agent started others with its own order",
                nudge="The agents read the order as one to delegate. Stop them, and say who does the work.",
                known_loop=known_order_handed_down,
                mender=Mender.PERSON,
            ),
            LoopRow(
                kind=LoopKind.DEEP_TREE,
                settings=("tree_depth",),
                sentence="agents started agents, {n} levels deep",
                nudge="Find out what each level lacks, such as a permission, and give it to the first level.",
                known_loop=known_deep_tree,
                mender=Mender.PERSON,
            ),
            LoopRow(
                kind=LoopKind.SPAWNED_AGAIN,
                settings=("spawned_again", "spawned_alike"),
                sentence="{n} agents were started with orders that earlier agents already had",
                nudge="The same work is ordered again. Stop the agents, and ask for the results that exist.",
                known_loop=known_spawn_again,
                mender=Mender.PERSON,
            ),
        ),
    ),
    DetectorRow(
        name="errands",
        make=Errands,
        sees=Sees.ERRAND,
        loops=(
            LoopRow(
                kind=LoopKind.IDLE_AGENTS,
                settings=("idle_agents",),
                sentence="{n} agents in a row changed nothing, and the next ones got the same order",
                nudge="Find out why they change nothing before you start another agent.",
                known_loop=known_idle_agent,
            ),
            LoopRow(
                kind=LoopKind.FAILED_AGENTS,
                settings=("failed_agents",),
                sentence="{n} agents in a row reported that they failed",
                nudge="The next agents will meet the same failure. Fix the cause before you start more.",
                known_loop=known_failed_agent,
            ),
            LoopRow(
                kind=LoopKind.RELAY,
                settings=("relays",),
                sentence="{n} agent results were passed to the next agent, and nothing was done",
                nudge="The agents wait for each other. Decide what they ask, or ask somebody who can.",
                known_loop=known_relay,
                mender=Mender.PERSON,
            ),
            LoopRow(
                kind=LoopKind.UNREAD_AGENTS,
                settings=("unread_agents", "closed_agents"),
                sentence="{n} agents in a row whose results nobody read",
                nudge="Read their results before you start or end another agent.",
                known_loop=known_unread_agent,
            ),
        ),
    ),
    DetectorRow(
        name="wake_ups",
        make=WakeUps,
        sees=Sees.TIME,
        loops=(
            LoopRow(
                kind=LoopKind.MISSED_WAKE_UP,
                settings=("wake_up_late_s",),
                sentence="a wake-up that {tools} asked for did not come, {n} so far",
                nudge="Nothing watched it meanwhile. Look at it first, and do not rely on the timer.",
                known_loop=known_missed_wake_up,
                mender=Mender.PERSON,
            ),
        ),
    ),
    DetectorRow(
        name="speech",
        make=Speech,
        sees=Sees.TALK,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.MONOLOGUE,
                settings=("messages",),
                sentence="the same message {n} times in a row, nothing done in between",
                nudge="The same message appeared again, and nothing was done in between.",
                known_loop=known_monologue,
            ),
            LoopRow(
                kind=LoopKind.CHANTING,
                settings=("chant_copies", "chant_words", "chant_period"),
                sentence="a text that ends in {n} copies of itself",
                nudge="The text ends in copies of itself.",
                known_loop=known_chant,
            ),
            LoopRow(
                kind=LoopKind.CONDENSATION,
                settings=("condensations",),
                sentence="the context was condensed {n} times in a row, nothing done in between",
                nudge="The context is condensed again and again with nothing done in between.",
                known_loop=known_condensation,
            ),
        ),
    ),
    DetectorRow(
        name="contexts",
        make=RereadContexts,
        sees=Sees.TALK,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.REREAD,
                settings=("reread",),
                sentence="{n} contexts in a row re-read known content, and nothing was changed",
                nudge="The context was condensed before the reading was useful. Write down what matters as "
                "you read, and read less at a time.",
                known_loop=known_reread,
            ),
        ),
    ),
    DetectorRow(
        name="stated",
        make=Stated,
        sees=Sees.TOLD,
        forgets=(Restart.TASK,),
        loops=(
            LoopRow(
                kind=LoopKind.KNOWN_GROUND,
                settings=("known_ground",),
                needs=("stated_actions",),
                sentence="{n} steps that led nowhere new ({tools})",
                nudge="The last steps covered known ground: no new search, no new page.",
                known_loop=known_ground,
            ),
            LoopRow(
                kind=LoopKind.REPEATED_ORDER,
                settings=("same_orders", "shared_words"),
                needs=("stated_actions",),
                sentence="nearly the same {tools}, {n} times, without a new result",
                nudge="The same order will not bring a different result.",
                known_loop=known_order,
            ),
        ),
    ),
    DetectorRow(
        name="spend",
        make=Spend,
        sees=Sees.USAGE,
        loops=(
            LoopRow(
                kind=LoopKind.SPEND_RATE,
                settings=("usd_per_minute", "usd_per_hour"),
                sentence="money was spent faster than allowed",
                nudge="Spending is faster than allowed.",
                known_loop=known_spend_rate,
            ),
            LoopRow(
                kind=LoopKind.BUDGET_END,
                settings=("budget_usd", "budget_tokens", "budget_ends_in_s"),
                needs=("budget_usd", "budget_tokens"),
                sentence="the budget was about to end",
                nudge="At this rate the budget ends soon.",
                known_loop=known_budget_end,
            ),
            LoopRow(
                kind=LoopKind.SPEND_WITHOUT_NEWS,
                settings=("usd_without_news", "tokens_without_news"),
                sentence="spending continued without new results",
                nudge="Spending continues without new results.",
                known_loop=known_spend_without_news,
            ),
        ),
    ),
)
LOOPS: Final[Mapping[LoopKind, LoopRow]] = {loop.kind: loop for row in DETECTORS for loop in row.loops}


def is_for_person(kind: LoopKind) -> bool:
    """Returns True if the model can do nothing about a loop: a person alone can end it."""
    return LOOPS[kind].mender is Mender.PERSON
