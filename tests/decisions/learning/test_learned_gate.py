"""A gate with labels of a user's own: what they change, and what a model file may be."""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ebbtide.decision_log.deliberation.answer import DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decisions.candidate import Candidate, Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.learning.decision_label import DecisionLabel, Draw, LabelKind, read_labels
from ebbtide.decisions.learning.drawing import OpenQuestion, next_question
from ebbtide.decisions.learning.features import LabelledCandidate, RuleReading, trust_in
from ebbtide.decisions.learning.learned_model import LearnedModel
from ebbtide.decisions.learning.learned_rule import LEARNED, embedder
from ebbtide.decisions.learning.logistic import fitted_weights
from ebbtide.decisions.learning.training import labelled_table, model_of, training_report
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.profile import Profile
from ebbtide.supervision.summary.run_decisions import RunDecisions
from ebbtide.text.embedding.minilm import FINGERPRINT

# What this team writes down: how to address guests is decided, what the kitchen did is none.
DECIDED = [
    f"Guests of the {name} are greeted in {language} from now on"
    for name in ("harbour hotel", "mountain lodge", "city hostel", "lake cabin")
    for language in ("French", "Italian", "German", "Dutch", "Polish")
]
REPORTED = [
    f"We will use the {dish} for table {number} instead of the soup"
    for dish in ("trout", "risotto", "lentils", "tart")
    for number in (3, 7, 9, 12, 15)
]
MEALS = "We will use the dumplings for table 8 instead of the salad"
GREETING = "Guests of the old mill are greeted in Danish from now on"
# Sure cases of the rules, far from the labels.
DONE = "Done! PR #90 created and pushed."
CHOICE = "I decided to cache pages in the proxy because the application is slow."

rows_of_numbers = arrays(np.float64, (6, 3), elements=st.floats(-2, 2, width=32))


def candidates(decided: list[str], reported: list[str]) -> list[LabelledCandidate]:
    kinds = [(text, LabelKind.DECISION) for text in decided] + [(text, LabelKind.NONE) for text in reported]
    return [
        LabelledCandidate(
            DecisionLabel(text=text, label=kind, document=f"day-{number % 7}", draw=Draw.RANDOM),
            RuleReading.of(assess(Candidate(description=text))),
        )
        for number, (text, kind) in enumerate(kinds)
    ]


def trained(decided: list[str], reported: list[str]) -> LearnedModel:
    table = labelled_table(candidates(decided, reported), embedder())
    return model_of(
        table, embedding=FINGERPRINT, refuse_at=Profile.DEFAULT.decisions.refuse_at, made_by="0.1.0"
    )


def with_model(path: Path) -> Profile:
    rules = dataclasses.replace(Profile.DEFAULT.decisions, model=str(path))
    return dataclasses.replace(Profile.DEFAULT, decisions=rules)


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    path = tmp_path_factory.mktemp("models") / "decision-model.json"
    trained(DECIDED, REPORTED).save(path)
    return with_model(path)


@pytest.mark.parametrize(
    ("text", "by_rules", "by_labels"),
    [(MEALS, True, False), (GREETING, True, True), (DONE, False, False), (CHOICE, True, True)],
)
def test_labels_turn_the_verdict_where_they_are_near(
    taught: Profile, text: str, by_rules: bool, by_labels: bool
) -> None:
    """What is like the labelled texts follows them; what is like none of them follows the rules."""
    candidate = Candidate(description=text)
    assert assess(candidate).keep is by_rules
    assessment = assess(candidate, profile=taught)
    assert assessment.keep is by_labels
    (learned,) = (rule for rule in assessment.rules if rule.id == LEARNED)
    refuses = assessment.noise - assessment.choice >= assessment.threshold
    assert refuses is not assessment.keep
    assert not learned.decides
    if by_labels is not by_rules:
        assert assessment.primary == learned == assessment.rules[0]


def test_the_reason_names_the_nearest_labels(taught: Profile) -> None:
    """Of both kinds, with what was said of them."""
    reason = assess(Candidate(description=MEALS), profile=taught).reason
    assert reason is not None
    assert reason.startswith("By your labels: like 'We will use the")
    assert "(none), unlike 'Guests of the" in reason
    assert reason.endswith("(decision)")


def test_what_is_recorded_on_purpose_is_not_asked_of_the_model(taught: Profile) -> None:
    """An explicit record meets the quality rules alone, as without a model."""
    candidate = Candidate(description=MEALS, source=Source.EXPLICIT)
    assert assess(candidate, profile=taught) == assess(candidate)


@pytest.fixture(scope="module")
def untaught(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    path = tmp_path_factory.mktemp("models") / "decision-model.json"
    trained([], []).save(path)
    return with_model(path)


@given(text=st.text(max_size=80))
def test_without_labels_the_rules_stand(untaught: Profile, text: str) -> None:
    """A model of no labels changes no assessment at all."""
    candidate = Candidate(description=text)
    assert assess(candidate, profile=untaught) == assess(candidate)


def test_no_label_changes_what_a_rule_refuses_alone(taught: Profile) -> None:
    """An error template stays one."""
    text = "I encountered an error processing your request."
    assert not assess(Candidate(description=text), profile=taught).keep


@given(
    rows_of_numbers,
    arrays(np.float64, 6, elements=st.sampled_from([0.0, 1.0])),
    arrays(np.float64, 6, elements=st.floats(-4.5, 4.5)),
    st.integers(0, 5),
)
def test_one_more_label_moves_its_text_its_way(
    rows: np.ndarray, targets: np.ndarray, offsets: np.ndarray, which: int
) -> None:
    """The logit of a text rises with a label that says none, and falls with one that says decision."""

    def logit(*more: float) -> float:
        grown = np.vstack([rows, *[rows[which] for _ in more]])
        weights = fitted_weights(
            grown,
            np.concatenate([targets, more]),
            np.concatenate([offsets, [offsets[which]] * len(more)]),
            np.ones(len(grown)),
        )
        return float(rows[which] @ weights)

    assert logit(0.0) <= logit() + 1e-6
    assert logit(0.0, 0.0) <= logit(0.0) + 1e-6
    assert logit(1.0) >= logit() - 1e-6
    assert logit(1.0, 1.0) >= logit(1.0) - 1e-6


@given(
    rows_of_numbers,
    arrays(np.float64, 6, elements=st.sampled_from([0.0, 1.0])),
    arrays(np.float64, 6, elements=st.floats(-4.5, 4.5)),
)
def test_the_weights_are_the_most_likely_ones(
    rows: np.ndarray, targets: np.ndarray, offsets: np.ndarray
) -> None:
    """At the optimum the prior's pull and the labels' balance, feature by feature."""
    importance = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
    weights = fitted_weights(rows, targets, offsets, importance)
    chances = 1.0 / (1.0 + np.exp(-(offsets + rows @ weights)))
    assert np.allclose(rows.T @ (importance * (targets - chances)), weights, atol=1e-4)


def test_trust_grows_with_the_decisions() -> None:
    """Who showed no decision yet loses none by labels."""
    assert trust_in(0) == 0.0
    only_noise = trained([], REPORTED)
    vector = embedder().embed([MEALS])
    assert only_noise.points(vector, RuleReading(-1.0, (), settled=False)) <= 0.0


def test_the_report_judges_each_document_without_its_labels() -> None:
    """Rates are over all labels; the first point is that of the rules."""
    table = labelled_table(candidates(DECIDED, REPORTED), embedder())
    report = training_report(table)
    assert (report.decisions, report.others, report.documents, report.by_document) == (20, 20, 7, True)
    assert [point.labels for point in report.curve] == [0, 25, 28]
    first, *_, last = report.curve
    by_rules = [assess(Candidate(description=text)).keep for text in REPORTED]
    assert first.passed.hits == sum(by_rules) == 20
    assert last.passed.hits < 10
    assert last.loss.hits == 0
    assert report.honest == last


def test_one_document_is_said_to_flatter() -> None:
    """Its folds are texts, and the report says that they are no documents."""
    labels = [
        each._replace(label=dataclasses.replace(each.label, document="one"))
        for each in candidates(DECIDED, REPORTED)
    ]
    report = training_report(labelled_table(labels, embedder()))
    assert (report.documents, report.by_document) == (1, False)
    assert report.curve[-1].labels > 25


def damaged(model: dict, change: dict) -> str:
    return json.dumps({**model, **change})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a trained model"),
        ("[1]", "not a trained model"),
        ({"kind": "something else"}, "not a trained model"),
        ({"schema": 2, "made_by": "9.9"}, "written by Ebbtide '9.9' in form '2', and form 1 is read"),
        ({"weights": "AAAA"}, "the trained model is damaged"),
        ({"weights": "no base64!"}, "the trained model is damaged"),
        ({"vectors": ""}, "the trained model is damaged"),
        ({"threshold": "high"}, "the trained model is damaged: threshold"),
        ({"embedding": "other@1"}, "trained with the embeddings 'other@1'"),
        ({"refuse_at": 2.0}, "trained for refuse_at = 2, and the profile has 0.75"),
    ],
)
def test_files_that_are_no_model(taught: Profile, tmp_path: Path, content: object, message: str) -> None:
    """The message says what is wrong with which file, and what to do."""
    good = json.loads(Path(str(taught.decisions.model)).read_text(encoding="utf-8"))
    path = tmp_path / "model.json"
    path.write_text(content if isinstance(content, str) else damaged(good, content), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"model\.json") as caught:
        assess(Candidate(description=GREETING), profile=with_model(path))
    assert message in str(caught.value)
    assert "ebbtide decisions train" in str(caught.value)


def test_a_model_that_is_gone_and_one_that_changed(tmp_path: Path) -> None:
    """A missing file is named; one that was trained again is read again."""
    path = tmp_path / "model.json"
    profile = with_model(path)
    with pytest.raises(ConfigError, match="ebbtide decisions train` makes it"):
        assess(Candidate(description=MEALS), profile=profile)
    trained([], []).save(path)
    assert assess(Candidate(description=MEALS), profile=profile).keep
    trained(DECIDED, REPORTED).save(path)
    assert not assess(Candidate(description=MEALS), profile=profile).keep


def test_a_gate_that_cannot_be_asked_loses_nothing(tmp_path: Path) -> None:
    """Recording goes on and says `degraded`; so does watching, by the rules alone."""
    profile = with_model(tmp_path / "gone.json")
    with DecisionLog.open(":memory:", agent="waiter") as log:
        work = Deliberation(log, profile=profile)
        answer = work.record_decision(MEALS, source=Source.AUTO)
    assert answer.verdict is DecisionVerdict.KEPT
    assert "gone.json" in str(answer.degraded)
    run = RunDecisions(profile)
    run.turn(CHOICE, agent="waiter", event=1)
    assert [each.kept for each in run.listed()] == [True]
    assert "gone.json" in str(run.fault)


@pytest.mark.parametrize("missing", ["numpy", "onnxruntime"])
def test_without_the_extra(monkeypatch, taught: Profile, tmp_path: Path, missing: str) -> None:
    """It is said what to install."""
    path = tmp_path / "copy.json"
    path.write_text(Path(str(taught.decisions.model)).read_text(encoding="utf-8"), encoding="utf-8")
    embedder.cache_clear()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SemanticError, match=r"pip install 'ebbtide\[semantic\]'"):
        assess(Candidate(description=MEALS), profile=with_model(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "x"}', "label"),
        ('{"text": "x", "label": "yes"}', "label"),
        ('{"text": " ", "label": "none"}', "text"),
        ("no json", "Expecting value"),
        ("[1]", "labels.jsonl:2"),
    ],
)
def test_lines_that_are_no_label(tmp_path: Path, line: str, message: str) -> None:
    """The line is named, with what is expected."""
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{{"text": "We use SQLite", "label": "decision"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r'labels\.jsonl:2: .*Expected such as \{"text"') as caught:
        read_labels(path)
    assert message in str(caught.value)


def test_half_by_lot_half_where_the_gate_is_unsure() -> None:
    """The lot does not look at the words' meaning; the other half takes the nearest to the threshold."""
    texts = [CHOICE, DONE, GREETING, "Perhaps the queue is better than polling here"]
    questions = [
        OpenQuestion(
            text=text,
            document="",
            place="",
            speaker="",
            before="",
            after="",
            assessment=assess(Candidate(description=text)),
        )
        for text in texts
    ]
    by_lot, draw = next_question(questions, 0)
    assert draw is Draw.RANDOM
    assert next_question(list(reversed(questions)), 0) == (by_lot, draw)
    unsure, draw = next_question(questions, 1)
    far = [abs(q.assessment.noise - q.assessment.choice - q.assessment.threshold) for q in questions]
    assert draw is Draw.UNCERTAIN
    assert far[questions.index(unsure)] == min(far)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"base": "spec", "decisions": {"model": "m.json"}}, "model: a trained model is weighed"),
        ({"decisions": {"model": 3}}, "model = 3: expected the name of a file"),
        ({"decisions": {"model": ""}}, "model = '': expected the name of a file"),
    ],
)
def test_profiles_that_cannot_have_a_model(table: dict, message: str) -> None:
    """The SPEC profile keeps to its letter."""
    with pytest.raises(ConfigError, match=message):
        Profile.from_dict(table)


def test_the_path_of_a_model_starts_from_its_profile(tmp_path: Path) -> None:
    """So that a project's files can be read from any folder."""
    file = tmp_path / "team.toml"
    file.write_text('[decisions]\nmodel = "models/ours.json"\n', encoding="utf-8")
    assert Profile.load(file).decisions.model == str(tmp_path / "models" / "ours.json")
