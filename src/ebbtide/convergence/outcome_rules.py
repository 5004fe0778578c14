"""The wordings by which people, agents and frameworks say how work came out.

The part of an id before the dot is the outcome. Patterns are matched in lower case with straight apostrophes,
sentence by sentence. English, and the shortest reports of some other languages.
"""

from __future__ import annotations

from ebbtide.text.phrases import anywhere, at_start

_WORK = (
    r"(?:task|job|work|issue|bug|problem|fix|change|changes|feature|migration|refactor(?:ing)?"
            r"|implementation|upgrade"
    r"|request|report|analysis|update|updates|setup|installation|deployment|cleanup|conversion"
            r"|translation|script|pr"
    r"|pull request|review|documentation|docs|ticket|order|reservation|booking|flight|refund|cancellation|it|this"
    r"|everything|all (?:\w+ ){0,3}(?:tasks|changes|steps|items|files|work|issues|todos"
            r"|requirements|of (?:it|them|this)))"
)
_DONE = (
    r"(?:complete|completed|done|finished|resolved|fixed|solved|implemented|in place|merged"
            r"|deployed|submitted|booked"
    r"|cancelled|canceled|processed|confirmed|ready|updated|up to date|live|pushed|published"
            r"|committed|installed|set up"
    r"|cleaned up|verified|working|all set|finalized|concluded|closed)"
)
_ADVERBS = r"(?:all |also |already |both |finally |now |just |successfully |fully |been |correctly |properly )*"
_DID = (
    r"(?:added|adjusted|applied|booked|built|cancelled|canceled|changed|cleaned|committed"
            r"|completed|configured|converted"
    r"|corrected|created|deployed|documented|extracted|finished|fixed|generated|implemented"
            r"|installed|integrated|made"
    r"|merged|migrated|moved|opened|organized|placed|processed|published|pushed|put|rebuilt"
            r"|refactored|refunded|removed"
    r"|renamed|reorganized|replaced|reset|resolved|restored|reverted|rewritten|rewrote|saved"
            r"|scheduled|sent|set up|solved"
    r"|sorted|submitted|summari[sz]ed|switched|translated|updated|upgraded|uploaded|wired|wrote|written)"
)

#: What an agent may be unable to do, and yet have done its task: a check that could not run is a remark.
_CHECK = (
    r"(?:run|test|verify|check|confirm|reproduce|execute|compile|build|lint|measure|tell|say|see|reach|open"
    r"|install|validate|inspect|observe)\b"
)

#: Rules of what says that a run ends, and not how.
SIGNALS = ("finished.terminate", "finished.final-answer")
#: Reports of a program around an agent, which count where they are all that a turn has.
WHOLE_TURNS = ("failed.error", "failed.result")
#: Failures that an agent states of its own task, whatever else it has done.
OWN_FAILURES = ("failed.give-up", "failed.nothing")
#: Reports of an agent, and what harnesses print. The first table that matches a sentence decides.
AGENT = {
    "limit": (
        anywhere(
            "limit.reached",
            r"(?:max(?:imum)?(?! retries exceeded with url)|step|token|cost|time|rate|usage|context"
            r"|budget|recursion|turn|round|iteration|message|quota"
            r"|request|call|retry|spending|hour|weekly|daily|session)s?"
            r"(?: (?:number|count|window|length|size|limits?|budget|of|allowed|consecutive|auto[- ]reply|rounds?|turns?"
            r"|steps?|tokens?|iterations?|retries|attempts|messages?|calls?|\(?[\d.,$]+\)?)){0,5}"
            r"(?: (?:was|were|has been|have been|is|limit))? (?:reached|exceeded|exhausted|hit)",
        ),
        anywhere(
            "limit.ran-into",
            r"(?:reached|hit|exceeded|exceeds|ran into|exhausted|used up)(?: (?:the|its|my|our|your|a))?"
            r" (?:\w+ ){0,2}(?:max(?:imum)?|limits?|quota|cap|ceiling|budget)(?! to\b)",
        ),
        anywhere(
            "limit.max-rounds",
            r"max[_ ](?:rounds?|turns?|steps?|iterations?|tokens|retries"
            r"|consecutive_auto_reply)(?:[_ ](?:reached|exceeded)|\W+\d+)?"
            r"(?= (?:reached|exceeded|hit)|\W*\Z)|exit_(?:cost|context|total_execution_time)|limitsexceeded",
        ),
        anywhere(
            "limit.out-of",
            r"(?:ran |run |running )?out of (?:(?:extra )?usage|budget|credits?|tokens|context|time|steps|turns|quota)"
            r"|credit balance is too low|prompt is too long|context (?:length|window) exceeded|insufficient_quota"
            r"|too many requests|rate[- ]limited",
        ),
        anywhere(
            "limit.stopped",
            r"agent stopped due to|need more steps to|stop(?:ped|ping)? (?:the agent )?(?:after"
            r"|at) \d+ (?:\w+ )?(?:steps|turns|rounds|iterations|calls)"
            r"|only \d+ (?:steps|turns|rounds|iterations|calls|reflections|retries) (?:are |is )?allowed"
            r"|maximum context length|context_length_exceeded",
        ),
    ),
    "failed": (
        anywhere(
            "failed.unable",
            r"(?:i|we|agent)(?:'m| am| was| were| are|'re| is)?"
            rf"(?: still| currently| just| unfortunately| therefore| also| simply| not)* (?:unable|not able|powerless) to(?! {_CHECK})"
            rf"|(?:i|we) (?:wasn't|weren't|isn't|aren't) able to(?! {_CHECK})|(?:i|we) won't be able to"
            r"|unable to (?:find|locate|access|complete|determine)",
        ),
        anywhere(
            "failed.could-not",
            r"(?:i|we|agent)(?: \w+){0,2} "
            r"(?:can(?:'t|not| not)|could(?:n't| not)) (?:be )?(?!proceed|continue|go on|move forward"
            r"|wait|think|imagine|stress|recommend|see (?:any|a reason)|thank|guarantee|start|make progress"
            rf"|{_CHECK})\w+"
            r"|(?:task|job|request|answer|problem|question|comparison) (?:can(?:'t|not| not)|could(?:n't| not)) be",
        ),
        anywhere(
            "failed.failed",
            r"(?:task|run|build|job|rollback|release|deployment|migration|attempts?|request|upload"
            r"|test suite|pipeline|command|agent|execution|step|it|all \w+"
            r"|tests?|\d+ tests?)(?: \w+){0,2} (?:failed|fails|failing|crashed|aborted|errored)(?! over"
            r"| safe| gracefully| before\b)",
        ),
        at_start("failed.failed-to", r"(?:i |we |it )?(?:have |has |'ve )?failed (?:to|at|because|after|with)|task failed|failure\b|failed\b"),
        anywhere("failed.give-up", r"(?:giv(?:e|en|ing)|gave|giving) up|out of ideas|at a loss|dead end|abandon(?:ed|ing)? (?:the|this)"),
        anywhere(
            "failed.nothing",
            r"no (?:relevant |matching |suitable |useful )?(?:results?|answer|data|information|solution"
            r"|match(?:es)?|records?|documents?|access)"
            r" (?:(?:could be|was|were|is|are|has been|have been)(?: \w+)? (?:found|available|returned)"
            r"|available|is possible|to)|i (?:do not|don't) know(?! if| whether| how you| which)"
            r"|(?:do not|don't|does not|doesn't) have (?:enough (?:information|data|context)|access"
            r"|the (?:necessary |required )?(?:permissions?|information|tools?|data|ability))"
            r"|no (?:fix|changes?|progress|solution|workaround|further progress|answer|conclusion"
            r"|agreement|result) (?:was|were|has been|have been|could be|is being) (?:made|found|reached"
            r"|given|produced)"
            r"|insufficient (?:information|data|evidence|permissions?)|not enough (?:information|data)"
            r"|beyond my (?:capabilities|abilities)|cannot (?:assist|help)|can't (?:assist|help)|no answer",
        ),
        at_start(
            "failed.error",
            r"(?:\w*error|exception|traceback|fatal|api error|request timed out|timed? ?out"
            r"|connection (?:error|refused|reset)|permission denied|access denied|unauthori[sz]ed|forbidden|invalid (?:api key|credentials"
            r"|token)|internal server error|panic)\b(?! handling| message| codes?| is fixed| was fixed"
            r"| has been| have been)",
        ),
        at_start("failed.apology-but", r"(?:sorry|i'm sorry|i am sorry|i apologi[sz]e|apologies|my apologies),? but\b"),
        at_start(
            "failed.result",
            r"(?:result|status|verdict|outcome|evaluation|score|your score \(.{1,30}\)|reward"
            r"|exit_status|success)\W{1,4}(?:fail(?:ed|ure)?|incorrect|wrong|error|false|0(?:\.0+)?(?=\W*\Z))",
        ),
    ),
    "blocked": (
        anywhere(
            "blocked.blocked",
            r"(?:am|is|are|i'm|we're|it's|remains?|still|currently|completely) blocked(?= (?:on|by|until"
            r"|because|from)\b|\W*\Z)",
        ),
        anywhere(
            "blocked.waiting",
            r"(?:i'm|i am|we're|we are|currently|now|it's|is|still|work is|remains?) (?:waiting (?:for"
            r"|on)|awaiting|on hold|paused until|pending)"
            r"(?! (?:tests?|the (?:build|tests?|server|page|output|command|process)))"
            r"|pending (?:approval|review|access|sign-?off)\W*\Z",
        ),
        anywhere(
            "blocked.until",
            r"(?:(?:can't|cannot|won't|stopping|stop here|stopped|parked|pausing|paused|on hold|held"
            r"|nothing|not) .{0,80}until|nothing (?:to do|left) but (?:to )?wait|stuck waiting"
            r"|still pending|pending \W{1,3}third|set to pending)",
        ),
        anywhere("blocked.other-language", r"komme (?:\w+ ){0,2}nicht weiter|sobald (?:\w+ ){1,4}(?:freigeschaltet|freigegeben)"),
        anywhere(
            "blocked.cannot-go-on",
            r"(?:someone|somebody|an? \w+|they|ops|admins?|the \w+(?: team)?)(?: with \w+ \w+)? (?:has"
            r"|have|needs?|must) to .{0,60}\bbefore|needs? .{0,40} (?:to|before (?:i|we) can) (?:continue|proceed)"
            r"|(?:cannot|can't|can not|unable to|not able to) (?:proceed|continue|move forward|go on"
            r"|start|go (?:any )?further|make progress)"
            r"|(?:need|needs|require|requires) (?:access|credentials|an? (?:api )?(?:key|token|login)"
            r"|permissions?|approval)(?: \w+){0,5} (?:before|to (?:proceed|continue))"
            r"|(?:nothing|not much|no more) (?:more )?(?:i|we) can do until|(?:on hold|parked|paused|stopped) until",
        ),
        at_start("blocked.label", r"(?:status: )?blocked(?: by| on| until|:|\W*\Z)"),
    ),
    "handed_back": (
        anywhere(
            "handed_back.human",
            r"transferr?(?:ed|ing) (?:you |this |the \w+ |your \w+ )?(?:over )?to (?:a |an? "
            r"|our )?(?:human|person|colleague|specialist|representative|agent|live|support|member|supervisor)"
            r"|(?:escalat(?:ed|ing)|handed|handing|passed|passing|connect(?:ed|ing)|forward(?:ed"
            r"|ing)) (?:you |this |it |the \w+ |your \w+ )?(?:over |on )?(?:to|with) (?:a |an? |our "
            r"|the )?(?:\w+ ){0,2}(?:human|person|colleague|specialist|representative|live|support"
            r"|on-?call|team|manager|operator|nurse|desk|line)"
            r"|who (?:will|can) (?:call|contact|get back|take over|join|help|be in touch|reach)"
            r"|(?:someone|a colleague|a human|a specialist|our team) (?:will|from \w+ will) (?:get back"
            r"|take over|contact|reach|follow up|be in touch)",
        ),
        anywhere(
            "handed_back.your-turn",
            r"(?:i'll|i will|i'd) (?:wait for|await|hold off until|leave (?:it|that|this) (?:to"
            r"|with) you|let you (?:decide|choose|pick))|(?:over|back) to you|your (?:call|turn|choice"
            r"|move)\b|(?:for|let|leave) (?:you|it (?:to|for) you|this (?:to|for) you) to (?:decide"
            r"|choose|confirm|review|pick)|awaiting_user|you(?:'ll| will)? (?:need|have) to"
            r"|waiting for your|awaiting your|up to you|i need (?:you to|your)|(?:before i (?:proceed"
            r"|continue|go on|start|go ahead|make|do|touch|merge|push)).{0,80}(?:confirm|which|please"
            r"|let me know|need)",
        ),
        anywhere(
            "handed_back.please",
            r"(?:tell|show|send|give) me(?! if| about)|i(?:'ll| will)? (?:still )?need (?:to (?:see"
            r"|know)|the|your|a|more)\b|please (?:toggle|add|give|paste|type|open|go|visit|restart|set"
            r"|make|state|answer|reply|start)"
            r"|(?:please|kindly|could you|can you)(?: also| then| just)? (?:confirm|choose|pick|select"
            r"|provide|share|send|tell me|let me know|clarify|specify|advise|decide|review and|reply"
            r"|respond|approve|paste|run|try|check|verify on|upload|attach|grant|log ?in|enter)"
            r"|let me know (?:and|which|how you(?:'d| would) like|what you(?:'d| would)|whether"
            r"|when you(?:'re| are| have)|if you(?:'d like me| want me| would like me| prefer"
            r"|'d prefer)(?! (?:any|more|further|other|else)))",
        ),
    ),
    "finished": (
        anywhere(
            "finished.terminate",
            r"terminate(?=\W*\Z)|task solved|(?<!#)#+stop#+|<(?:finish|done|complete|attempt_completion"
            r"|promise)>|\[(?:done|finished|complete)\]|task_complete[d]?|task[_ ]done|finished chain"
            r"|(?:run|status|state|exit[_ ]status)\W{1,3}(?:submitted|completed?|finished|success)",
        ),
        at_start("finished.approve", r"(?:approved?|accepted|lgtm|satisfied|agreed\W+terminate)(?=\W*\Z)"),
        anywhere(
            "finished.marked",
            r"mark(?:ed|ing)? (?:the |this |it )?(?:(?:active )?task )?(?:as )?(?:complete|done|finished"
            r"|resolved)|(?:result|status|verdict|evaluation)\W{1,4}(?:pass(?:ed)?|correct|success)(?=\W*\Z)",
        ),
        anywhere(
            "finished.final-answer",
            r"<(?:solution|final)>|final[_ ]answer(?= ?[:=(>\u2013-]| is)|\\boxed\{|<(?:final_)?answer>"
            r"|finish\[|(?:the|my|our) (?:final |correct |verified )+(?:answer|result|solution|output"
            r"|value|total|sum) (?:is|was|=|to \w+ \w+ is)|the answer(?= ?:)",
        ),
        anywhere(
            "finished.work-done",
            rf"{_WORK}(?: \w+){{0,4}}? (?:is|are|was|were|has been|have been|'s|has|have|looks|should be) {_ADVERBS}{_DONE}",
        ),
        at_start("finished.did-it", rf"{_ADVERBS}{_DID}\b"),
        anywhere(
            "finished.tests",
            r"(?:all|every|\d+|\d+/\d+|the (?:full |whole |entire )?(?:test )?(?:suite|tests?|build|ci"
            r"|checks?|pipeline))(?: (?:\w+ )?(?:of the )?(?:\d+ )?(?:tests?|checks?|specs?|cases|suite"
            r"|unit tests|assertions))?"
            r"(?: (?:are|is|now|all|still|successfully)){0,6} (?:pass(?:ed|es|ing)?|green|succeed(?:ed|s)?)",
        ),
        at_start(
            "finished.done",
            r"(?:(?:ok|okay|great|perfect|and|we're|we are|i'm|i am|it's|that's it|everything is|you're"
            r"|you are|all)(?: ?[,!:\u2014-] ?| {0,2}))*(?:all )?(?:done|finished|complete|completed|fixed|shipped"
            r"|resolved|solved|merged|deployed|published|all set|good to go|ready to (?:submit|merge|use"
            r"|go|review|ship|deploy)|task complete(?:d)?|mission accomplished|success|works now|fertig"
            r"|erledigt|listo|hecho|terminado|completado|termin[\u00e9e]|c'est fait|pronto|feito|fatto"
            r"|gotowe|klaar|\u0433\u043e\u0442\u043e\u0432\u043e)(?=\W|\Z)(?! (?:with (?:the )?(?:first"
            r"|part|step|phase)|so far|\d+ of|half))",
        ),
        anywhere(
            "finished.successful",
            r"(?:completed|finished|done|applied|deployed|built|installed|merged|created|updated"
            r"|processed|booked|cancelled|resolved|saved|committed|pushed|ran|succeeded|passed|generated"
            r"|verified|migrated) successfully|successfully \w+ed|task success(?:ful)?(?:ly)?"
            r"|(?:confirmed|verified|validated) (?:that )?(?:it|the fix|this"
            r"|everything) (?:now )?(?:works|is correct)|(?:works|working) as (?:expected|intended"
            r"|requested)|everything (?:now )?(?:works|passes|looks good|is in order)|ready (?:to submit"
            r"|to merge|for (?:review|merge|use|production))|no further (?:action|changes|work"
            r"|steps) (?:is|are)? ?(?:needed|required|necessary)|nothing (?:else|more|left) to (?:do"
            r"|change|fix)|conclude (?:the|this) (?:task|conversation)|request satisfied"
            r"|objective (?:achieved|met|complete)",
        ),
        at_start(
            "finished.summary",
            r"(?:#{1,6} )?(?:final |here(?:'s| is) (?:a |the )?|quick |brief )?(?:summary(?: of (?:the |all "
            r"|my )?(?:changes|work|what .{1,30}))?|what (?:i|was) (?:did|changed|done|fixed|built)"
            r"|changes made|what changed)(?=\W*\Z|:)",
        ),
    ),
}

_ENDS = ("finished.terminate", "finished.marked", "finished.final-answer", "finished.tests")
#: What the program around an agent prints; it asks nobody, and announces nothing.
HARNESS = {
    "limit": AGENT["limit"],
    "failed": AGENT["failed"],
    "finished": tuple(rule for rule in AGENT["finished"] if rule.id in _ENDS),

    "interrupted": (
        anywhere(
            "interrupted.marker",
            r"turn_aborted: interrupted|(?:request )?interrupted by (?:the )?user|keyboardinterrupt|user (?:cancelled|canceled"
            r"|aborted|stopped)|(?:run|task|session) (?:was )?(?:cancelled|canceled|aborted|interrupted)",
        ),
    ),
    "handed_back": (anywhere("handed_back.awaiting", r"awaiting_user\w*|waiting for (?:user|human) input|press enter to|__interrupt__|approve, edit or reject"),),
}

#: What a person says of work that was handed over, at the start of a message or of a sentence in it.
PERSON = {
    "interrupted": (
        anywhere(
            "interrupted.marker",
            r"request interrupted by user|interrupted by (?:the )?user|keyboardinterrupt"
            r"|user (?:cancelled|canceled|aborted|stopped)",
        ),
    ),
    "failed": (
        anywhere(
            "failed.person-still",
            r"(?:still|again|now) (?:\w+ )?(?:broken|not work(?:ing|s)?|doesn't work|fails?|failing"
            r"|wrong|red|crash(?:es|ing)|the same (?:error|issue|problem)|happening|see(?:ing)? (?:the"
            r"|that|it))"
            r"|(?:that|this|it)(?:'s| is| was| did| does|n't)? ?(?:not (?:right|correct|what i|it|fixed"
            r"|working|work|help)|n't (?:right|correct|what i|fixed|working|work|help)|wrong|incorrect"
            r"|broken|worse|useless|didn't (?:work|help|fix)|doesn't (?:work|help|fix)|does not work"
            r"|did not work|made it worse)"
            r"|not (?:fixed|what i (?:asked|wanted|meant))|same (?:error|problem|issue)(?: as before"
            r"| again)?\W*\Z|you (?:broke|forgot|missed|ignored|didn't)|(?:is|are) (?:still )?(?:red"
            r"|down)|(?:isn't|not) (?:done|fixed|finished|solved)",
        ),
    ),
    "finished": (
        anywhere("finished.person-ends", r"(?<!#)#+(?:stop|end|done)#+|\[(?:stop|end|done)\]"),
        anywhere(
            "finished.person-thanks",
            r"thank(?:s| you)(?! (?:to|in advance))|(?:much |really )?appreciate(?:d| it| (?:the"
            r"|your) help)|cheers|danke|merci|gracias|obrigad[oa]|grazie",
        ),
        at_start(
            "finished.person-approves",
            r"(?:(?:ok|okay|yes|yep|great|nice|ah|oh|wow|cool|awesome|alright)[,!.]? )*(?:perfect"
            r"|excellent|great(?: (?:work|job|stuff))?|awesome|lgtm|approved?|looks (?:good|great"
            r"|perfect)|all good|nice(?: (?:work|job|one))?|well done|good (?:job|work)|that(?:'s"
            r"| is) (?:it|all|perfect|great|exactly what|what i (?:needed|wanted)|everything)|(?:it "
            r"|that |this )?works(?: (?:now|great|perfectly|fine|like a charm))?"
            r"|exactly what i (?:needed|wanted)|love it|ship it|merge it|merged|solved|fixed|confirmed"
            r"|that (?:did|solved|fixed) it|i(?:'m| am) (?:happy|satisfied)|no(?:thing)? (?:else|more)"
            r"|no,? that's (?:it|all|everything)|(?:reviewed|tested|checked|merged|approved|deployed"
            r"|released|published)(?: and \w+)?|terminate|exit|done)\b",
        ),
    ),
}


#: What stands before a report in its sentence and takes it back: it has not happened, or is asked or supposed.
NOT_YET = (
    anywhere(
        "open.condition",
        r"if|once|when(?:ever)?|after|until|till|unless|before|as soon as|whether|in case|should"
            r"|would|could|might|may|can|will|to"
        r"|need|needs|must|let's|ensure|make sure|verify|check|see|so that|in order|assuming"
            r"|provided|want|going to|plan|goal|expect(?:ed)?|suppose|try",
    ),
    anywhere(
        "open.negation",
        r"not|n't|isn't|aren't|hasn't|haven't|wasn't|weren't|never|nothing|nobody|no|none|without"
            r"|hardly|barely|almost|nearly|partly|partially|half|yet to|far from|don't|doesn't|didn't",
        ),
)

#: What an agent says it is about to do: work goes on.
GOES_ON = (
    at_start(
        "going_on.intent",
        r"(?:(?:now|next|first|then|so|ok|okay|and|but|also|finally|great|good|perfect|alright"
            r"|thought|with that(?: done)?|after that)\W+){0,3}"
        r"(?:let me(?! know)|let's(?! conclude| terminate| end| finali[sz]e)|let us"
            r"|i(?: still)? (?:need to|should|want to|must|have to)|we (?:need to|still need to|should"
            r"|must|can now)"
        r"|(?:time to|going to|moving on|continuing|proceeding|starting|next up|running|checking"
            r"|working on|looking (?:into|at)|driving|heading|scanning|searching|reading))",
    ),
    anywhere(
        "going_on.promise",
        r"(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to|'m now| am now"
            r"|'m about to| am about to|'m still| am still|'m currently| am currently)"
        r" (?!be (?:happy|glad|here|able|waiting|back)|let you|leave|stop|wait|await|conclude"
            r"|finali[sz]e|terminate|end|hold|need|not |submit|waiting|blocked|unable|hand|pass|done"
            r"|mark)\w+",
    ),
    anywhere(
        "going_on.doing",
        r"(?:i'm|i am|we're|we are) (?:now |still |currently |already )?"
        r"(?!waiting|putting|closing|handing|passing|leaving|stopping|transferring|escalating"
            r"|going to|ending|giving|blocked|having|missing|being|hoping|asking|sorry|not\b)\w+ing",
    ),
)

#: What makes an announcement depend on somebody else: nothing goes on until then.
AFTER_OTHERS = (
    anywhere(
        "others.condition",
        r"(?:if|once|when|as soon as|after|until) (?:you|i have (?:that|it|this|the|your)|i know|we have (?:that|the|your))|let me know"
        r"|whenever|point me|tell me|(?:with|on) your|your (?:answer|reply|go-ahead|approval|confirmation)",
    ),
)

#: An offer of more, which asks nothing of the person: the work was handed over before it.
OFFER = (
    anywhere(
        "offer.more",
        r"anything (?:else|more)|any (?:other|further|more|additional|questions)|(?:is there"
            r"|do you have|if you have|if there(?:'s| is)) (?:any|something|more)|need (?:any|more"
            r"|further|help|assistance)"
        r"|how (?:else )?(?:can|may) i (?:help|assist)|can i (?:help|assist)|feel free|happy to help"
            r"|hope (?:this|that) helps|let me know if (?:you(?:'d| would)? (?:have|need|like (?:more"
            r"|any|further|help|to (?:add|know|discuss|explore))|want (?:more|any|further|to)|run into"
            r"|see|spot|notice|face|encounter)|there(?:'s| is| are)|anything|i can|any|something)"
            r"|does (?:that|this|it) (?:help|make sense|answer|clear|clarify|sound)",
    ),
    # What is done is done, unless somebody wants it otherwise.
    at_start(
        "offer.otherwise",
        r"(?:but |and |also,? )?if [^.?!]{1,160}\b(?:let me know|tell me)\b[^.?!]{0,80}\b(?:i'll|i will|i can|i'd)"
        r" (?:adjust|update|change|modify|tweak|switch|rework|revise|rename|add|remove|include|extend|expand)",
    ),
)
