"""State of what an answer shows: under way or over, and what was set going that may change it.

Waiting is right only while what is awaited can still change. An answer states that in a field, a tag or a
cell, as the whole of it, or in a short sentence: a word among others is no state. Where one part is still
under way, the whole is.
"""

from __future__ import annotations

import re
from typing import Final

from ebbtide.events.outcome import CallOutcome, Ending
from ebbtide.text.late_pattern import LatePattern

_READ: Final = 1_000  # characters of an answer in which a state is looked for
_STARTED_READ: Final = 500  # of one that says that something was started
_LENGTH: Final = 200  # characters up to which an answer is a state and not a report

_OPEN: Final = (
    r"(?:pending|running|in[ _-]?progress|queued|waiting|processing|starting|not ready|building|deploying|"
    r"creating|updating|provisioning|scheduled|initiali[sz]ing|syncing|progressing|pulling)"
)
#: As a value alone: what waits for a person.
_ASKED: Final = (
    r"(?:(?:\w{2,30}_)?(?:required|requested|approval)|awaiting\w{0,30}|on[ _]hold|open|blocked|draft)"
)
_ENDED: Final = (
    r"(?:(?:\w{2,30}_)?completed?|done|succeeded|finished|(?:\w{2,30}_)?failed|failure|cancell?ed|aborted|"
    r"terminated|exited|stopped|killed|expired|closed|merged|rejected|declined|denied|dead|"
    r"crashed|errored|lost|evicted|abandoned|superseded|skipped|deleted|destroyed|shut ?down|not[ _]found)"
)
#: That a wait timed out says nothing about what is awaited; the state of a thing may be that.
_VALUE: Final = rf"(?:{_ENDED}|timed[ _-]?out)"
_FIELD: Final = r"\b\w{0,30}(?:status|state|phase|stage|result|conclusion|outcome)[\"']?\s{0,3}[:=]\s{0,3}"
#: A word is no state: something has to be in it. It is the value of a field, the whole of an answer or of a
#: cell, what a line begins with, or what is said of a thing, and of none.
_IS_OPEN: Final = LatePattern(
    rf"{_FIELD}[\"']?{_OPEN}\b"
    rf"|[:\[,]\s?\"(?:{_OPEN}|{_ASKED})\"(?!\s*:)|>\s*{_OPEN}\s*</|\"(?:is_?)?(?:done|finished|completed?|ready)\"\s*:\s*false"
    rf"|^[^\w\n]{{0,20}}(?:(?:it|\w+ \w+|[\w-]+) )?(?:is |are )?(?:still )?{_OPEN}[^\w\n]{{0,20}}$"
    rf"|^[^\w\n]{{0,20}}(?:waited|slept) (?:for )?\d"
    rf"|^[^\w\n]{{0,20}}{_OPEN}\b(?! (?:to|or|and|tasks?|jobs?|items?|directory)\b)"
    rf"|(?:  |\t|\|) ?{_OPEN} ?(?=  |\t|\||$)"
    rf"|\b(?:is|are) (?:still |being |currently |now |already )?{_OPEN}\b"
    rf"|(?<![\d.])[1-9]\d* (?:of \d+ |\w+ )?{_OPEN}\b",
    re.IGNORECASE | re.MULTILINE,
)
#: Without one of these words there is none; looking for them is cheap.
_OPEN_WORD: Final = LatePattern(rf"\b(?:{_OPEN}|waited|slept)\b|: ?false\b|\"{_ASKED}\"", re.IGNORECASE)
#: Words that say the same in no such place.
_MAYBE_OPEN: Final = LatePattern(
    r"\b(?:pending|running|in[ _-]?progress|queued|waiting|processing|starting|building|deploying|creating|"
    r"updating|modifying|provisioning|scheduled|initiali[sz]ing|syncing|progressing|not ready|active|open|"
    r"optimizing|backing|restoring|uploading|downloading|validating|scaling|ongoing)\b"
    r"|\b0/[1-9]|\b\d{1,2} ?%",
    re.IGNORECASE,
)
_IS_ENDED: Final = LatePattern(
    rf"{_FIELD}[\"']?{_VALUE}(?![\w-])"
    r"|\b\w{0,30}(?:conclusion|outcome)[\"']?\s{0,3}[:=]\s{0,3}[\"']?success\b"
    rf"|[:\[,]\s?\"{_VALUE}\"(?!\s*:)|>\s*{_VALUE}\s*</"
    r"|\"(?:is_?)?(?:done|finished|completed?)\"\s*:\s*true|\"(?:completed|errored|shutdown)\"\s*:\s*[\"{n]"
    rf"|(?:  |\t|\|) ?{_VALUE} ?(?=  |\t|\||$)|^{_VALUE}(?=  |\t| ?\|)"
    rf"|\A\W{{0,20}}(?:(?:it|\w+ \w+|[\w-]+) )?{_ENDED}\W{{0,20}}\Z",
    re.IGNORECASE | re.MULTILINE,
)
#: A short answer may say so in a sentence.
_SAID_ENDED: Final = LatePattern(
    rf"\b(?:is|are|was|were|has|have|been|already|got) (?:already |now |been )?{_ENDED}\b"
    r"|(?<![\d.])100(?:\.0+)? ?%(?! (?:packet|cpu|of))",
    re.IGNORECASE,
)
#: What stands still until somebody acts: no time brings it on.
_HALTED: Final = LatePattern(
    rf"{_FIELD}[\"']?(?:\w{{2,20}}[ _-])?"
    r"(?:suspended|paused|halted|disabled|on[ _-]?hold|held|inactive|cordoned)(?![\w-]*\s*:)"
    r"|\b(?:is_?)?(?:suspend(?:ed)?|paused|disabled|halted|on_?hold)[\"']?\s{0,3}[:=|]\s{0,3}[\"']?(?:true|yes)\b"
    r"|[:\[,]\s?\"(?:suspended|paused|halted|disabled|on[ _]hold|disabled_\w{3,20})\"(?!\s*:)"
    r"|(?:  |\t|\|) ?(?:suspended|paused|halted|disabled|on hold|held) ?(?=  |\t|\||$)"
    r"|^[^\n]{0,120}\bSUSPEND(?:ED)?\b[^\n]{0,120}\n(?:[^\n]{0,200}\n){0,5}?[^\n]{0,120}\s{2}True\s{2}"
    r"|\b(?:is|are|was|were|has been|been|currently|still) (?:now |still |currently )?"
    r"(?:suspended|paused|halted|disabled|on hold|deactivated|stopped)\b"
    r"|\bActive: inactive\b|\b(?:JobHeld\w{1,20}|launch failed requeued held|DependencyNeverSatisfied|"
    r"BadConstraints|PartitionDown|PartitionInactive|Invalid(?:Account|QOS)|AccountNotAllowed|ReservationDeleted)\b",
    re.IGNORECASE | re.MULTILINE,
)
_HALTED_WORD: Final = re.compile(
    r"suspend|paus|halt|disabled|hold|held|inactiv|cordon|deactiv|stopped|never|partition|invalid|constraints|"
    r"NotAllowed|Deleted",
    re.IGNORECASE,
)
#: That something is at work now, not only due.
_AT_WORK: Final = LatePattern(
    rf"{_FIELD}[\"']?(?:running|in[ _-]?progress|processing|building|training|executing|active|started)\b"
    r"|[:\[,]\s?\"(?:running|in[ _-]?progress|processing|building)\"(?!\s*:)"
    r"|(?:\s|\|)(?:running|in[ _-]progress|R|CG)\s{1,40}[\d:-]{4,}"
    r"|(?:  |\t|\|) ?(?:running|in[ _-]progress) ?(?=  |\t|\||$)"
    r"|\b(?:is|are) (?:still |now |currently )?(?:running|in progress|processing|building|training)\b"
    r"|^\W{0,20}(?:running|in[ _-]?progress|processing|building|training)\b",
    re.IGNORECASE | re.MULTILINE,
)
#: Who holds what is awaited.
_HELD: Final = LatePattern(
    r"\b(?:held|locked|used|owned|taken|blocked) by\b|\bin use\b|\bcould not get lock\b"
    r"|\block (?:info|holder|owner|file)\b|\balready (?:running|locked|in use)\b|\bLISTEN\b|\.(?:lock|pid)\b"
    r"|\b(?:pid|holder|owner|locked_by|lease ?holder)\b[\"']?\s{0,3}[:=]",
    re.IGNORECASE,
)
#: What is not there yet may come.
_ABSENT: Final = LatePattern(
    r"no such (?:file|table|host|object|key|record|job|container|branch)|cannot (?:access|stat|open)|"
    r"(?:not|n't) (?:exist|been found|found|there)|\bnot ?found\b|NXDOMAIN|NoSuch\w{2,20}|\b404\b|"
    r"could not resolve|\bno (?:results?|rows|records?|match(?:es|ing)?|resources)\b",
    re.IGNORECASE,
)
#: What was there and is there no more.
_GONE: Final = LatePattern(
    r"\bno such (?:container|job|process|task|session|pod|unit|run|service)\b"
    r"|\b(?:container|job|process|task|session|pod|run|service)s?\b[^\n]{0,60}"
    r"\b(?:not found|does not exist|no longer exists)\b",
    re.IGNORECASE,
)
#: Why it cannot go on.
_BLOCKED: Final = LatePattern(
    r"\bFailedScheduling\b|\bunschedulable\b|\bnodes are available\b|\bImagePullBackOff\b|\bErrImagePull\b|"
    r"\bCreateContainerConfigError\b|\bno (?:\w{1,20} )?(?:runners?|workers?|executors?|consumers?|brokers?)"
    r"(?: (?:is|are|was|were))?(?: (?:online|available|matching|matched|connected|registered|running|found|"
    r"active))?\b|\b(?:runners?|workers?|executors?) (?:is|are) (?:offline|down)\b",
    re.IGNORECASE,
)
#: That a scheduler has taken it and will come to it.
_IN_LINE: Final = re.compile(
    r"\((?:Priority|Resources|Dependency|BeginTime|QOS\w{3,40}Limit|Assoc\w{3,40}Limit)\)"
)
_MAYBE_ENDED: Final = re.compile(
    r"\b(?:completed?|done|succeeded|success|finished|failed|failure|cancell?ed|aborted|terminated|exited|"
    r"stopped|killed|merged|timed[ _-]?out|"
    r"expired|closed|resolved|rejected|not found|crashloopbackoff|error)\b",
    re.IGNORECASE,
)
#: How far something has come.
_SHARE: Final = re.compile(r"\b(\d+) ?(?:of|/) ?(\d+)\b|\b\d{1,2}(?:\.\d+)? ?%")
#: How calls and answers say that something was started which goes on by itself.
_STARTED: Final = LatePattern(
    r"\b(?:running|started|launched|continues?|moved) (?:it )?(?:in|to) (?:the )?background\b"
    r"|\b(?:background|async\w*) (?:job|task|process|command|agent|shell|session)\b"
    r"|\b(?:queued|scheduled|dispatched|submitted|triggered|launched|enqueued)\b"
    r"|\b(?:status|state)[\"']?\s{0,3}[:=]\s{0,3}[\"']?accepted\b",
    re.IGNORECASE,
)
_STARTS: Final = LatePattern(
    r"(?<![&>\d])&\s*(?:$|\n|disown|echo|sleep|\))|\b(?:nohup|setsid|disown|tmux|screen|"
    r"systemctl (?:re)?start|service \w+ (?:re)?start|up (?:--detach|-d)|(?:run|exec) (?:--detach|-d)|"
    r"--background|--detach|--daemon|workflow run|terraform apply|deploy|"
    r"kubectl .{0,80}(?:apply|set|rollout restart|create|scale))\b"
)
_ENDS: Final = LatePattern(
    r"(?:^|[;&|(\n]\s{0,9}|\bsudo )(?:kill|pkill|killall|scancel|"
    r"(?:docker|podman)(?:[ -]compose)? (?:stop|kill|rm|down)|systemctl (?:\S{1,20} )?stop|"
    r"tmux kill-\w{1,20}|gh run cancel|fuser -k)\b"
)
_DURATION: Final = LatePattern(
    r"\b(\d{1,4}|an?|the|one|two|three|four|half an?|(?:a )?(?:few|couple(?: of)?)|several)[ -]?"
    r"(s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?)\b(?: or (two|three|\d{1,2})\b)?",
    re.IGNORECASE,
)
_NUMBERS: Final = {"a": 1.0, "an": 1.0, "the": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0}
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FEW: Final = 4.0
#: When something is announced for another time of the day.
_LATER: Final = LatePattern(
    r"\b(?:(?:this|in the|during the|by|until|at) (?:morning|afternoon|evening|noon|night|midnight)|tonight|"
    r"tomorrow|overnight|later today|(?:end|rest) of (?:the )?day)\b",
    re.IGNORECASE,
)
#: When somebody asks for patience, and names no time.
_PATIENCE: Final = LatePattern(
    r"\b(?:may|can|could|might|will) take (?:a (?:while|bit|moment)|some time|its time|long(?:er)?)\b"
    r"|\bbe patient\b|\bpuede tardar\b|\bpeut prendre\b|\bpode demorar\b"
    r"|\bkann (?:etwas |eine Weile )?dauern\b",
    re.IGNORECASE,
)
_PATIENCE_S: Final = 1_800.0
_LATER_S: Final = 21_600.0


def is_under_way(answer: str) -> bool:
    """Returns True if an answer only says that something is still under way.

    >>> is_under_way('{"status": "running"}'), is_under_way("done")
    (True, False)
    """
    return len(answer) <= _LENGTH and _states_open(answer)


def is_over(answer: str) -> bool:
    r"""Returns True if an answer states that what it shows has ended, and nothing that is still under way.

    >>> is_over('{"status":"completed"}'), is_over("<status>killed</status>\nepoch 2/40")
    (True, True)
    >>> is_over("build  Failed  3m\ntest  Running  1m"), is_over("[12:00] step 300 done\n[12:01] step 310")
    (False, False)
    """
    text = answer[:_READ]
    ends = _IS_ENDED.search(text) or (len(answer) <= _LENGTH and _SAID_ENDED.search(text))
    return bool(ends) and not _states_open(text)


def is_halted(answer: str) -> bool:
    """Returns True if an answer states that what it shows stands still until somebody acts.

    >>> is_halted('{"name": "nightly", "suspend": true}'), is_halted("Active: inactive (dead)")
    (True, True)
    >>> is_halted("4711 gpu train PD 0:00 1 (JobHeldUser)"), is_halted("4711 gpu train PD 0:00 1 (Priority)")
    (True, False)
    """
    text = answer[:_READ]
    return bool(_HALTED_WORD.search(text)) and bool(_HALTED.search(text))


def is_at_work(answer: str) -> bool:
    """Returns True if an answer states that what it shows is at work now, and not only due.

    >>> is_at_work("4711  gpu  train  ann  R  1:23:45  1  n042"), is_at_work('{"status": "queued"}')
    (True, False)
    """
    return bool(_AT_WORK.search(answer[:_READ]))


def may_pass(answer: str) -> bool:
    """Returns True if a failure says that something is not there, or not free: that may change by itself.

    >>> may_pass("ls: cannot access 'go': No such file or directory"), may_pass("syntax error")
    (True, False)
    """
    return bool(_ABSENT.search(answer[:_READ])) or names_holder(answer)


def is_gone(answer: str) -> bool:
    """Returns True if an answer says that what should be at work is not there.

    >>> is_gone("Error: No such container: e2e"), is_gone("tail: cannot open 'out.log'")
    (True, False)
    """
    return bool(_GONE.search(answer[:_READ]))


def is_blocked(answer: str) -> bool:
    """Returns True if an answer says what keeps the thing that it shows from going on.

    >>> is_blocked("FailedScheduling: 0/3 nodes are available"), is_blocked("2/3 pods ready")
    (True, False)
    """
    return bool(_BLOCKED.search(answer[:_READ]))


def is_in_line(answer: str) -> bool:
    """Returns True if an answer says that a scheduler will come to what it shows.

    >>> is_in_line("4711  gpu  train  ann  PD  0:00  1 (Priority)")
    True
    """
    return bool(_IN_LINE.search(answer[:_READ]))


def shares_in(answer: str) -> list[float]:
    """Returns the parts of all shares that an answer names.

    >>> shares_in("step 3 of 9, worker 1/1, 7 restarts")
    [3.0, 1.0]
    """
    return [float(part) for part, _ in _SHARE.findall(answer[:_READ]) if part]


def names_holder(answer: str) -> bool:
    """Returns True if an answer says who or what holds the thing that is awaited.

    >>> names_holder("migrate.lock is held by pid 4711"), names_holder("no such file")
    (True, False)
    """
    return bool(_HELD.search(answer[:_READ]))


def has_come_so_far(answer: str) -> bool:
    """Returns True if an answer says how far something has come, or that it is under way.

    >>> has_come_so_far("3 of 7 replicas"), has_come_so_far("def main(): ...")
    (True, False)
    """
    if len(answer) > _STARTED_READ:
        return False
    return bool(_SHARE.search(answer)) or _states_open(answer)


def starts_work(command: str, answer: str) -> bool:
    """Returns True if a call started something that goes on by itself, as it or its answer says.

    >>> starts_work("npm run dev &", ""), starts_work("x", "Command running in background with ID: b7")
    (True, True)
    >>> starts_work("make a && make b", "ok")
    False
    """
    return bool(_STARTS.search(command) or _STARTED.search(answer[:_STARTED_READ]))


def ends_work(command: str) -> bool:
    """Returns True if a command ends something that was started.

    >>> ends_work("kill 4711"), ends_work("docker compose down"), ends_work("grep -n kill main.c")
    (True, True, False)
    """
    return bool(_ENDS.search(command))


def may_still_come(answer: str, outcome: CallOutcome | None) -> bool:
    """Returns True if what is looked at may still come.

    It may unless the answer says that it ended, and nothing that is still under way. A failure may pass where
    it says that a service is down or busy.

    >>> may_still_come('{"status": "failed"}', None), may_still_come("2 of 3 completed, 1 running", None)
    (False, True)
    """
    if outcome is not None and outcome.ending is Ending.FAILED:
        return outcome.is_down
    text = answer[:_READ]
    if is_over(text):
        return False
    return not _MAYBE_ENDED.search(text) or bool(_MAYBE_OPEN.search(text)) or _is_partly_done(text)


def announced_s(text: str) -> float:
    """Returns the longest wait that a text announces, in seconds; 0 where it announces none.

    >>> announced_s("next zone push, up to 60 min"), announced_s("It may take an hour or two; just wait.")
    (3600.0, 7200.0)
    """
    longest = _daytime_s(text[:_READ])
    for number, unit, more in _DURATION.compiled.findall(text[:_READ]):
        longest = max(longest, max(map(_number, (number, more))) * _UNITS[unit[0].lower()])
    return longest


def _daytime_s(text: str) -> float:
    if _LATER.search(text):
        return _LATER_S
    return _PATIENCE_S if _PATIENCE.search(text) else 0.0


def _number(word: str) -> float:
    small = word.lower()
    if small.isdecimal():
        return float(small)
    if not small:
        return 0.0
    return 0.5 if small.startswith("half") else _NUMBERS.get(small, _FEW)


def _states_open(text: str) -> bool:
    return bool(_OPEN_WORD.search(text)) and bool(_IS_OPEN.search(text))


def _is_partly_done(text: str) -> bool:
    """Returns True if a share of something is named, and it is not all of it."""
    return any(part and int(part) < int(whole) for part, whole in _SHARE.findall(text))
