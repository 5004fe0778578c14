"""The join of sessions and commits by what git printed, and by files and times."""

from ebbtide.supervision.summary.run_shipped import Evidence, Known
from tests.shipped.conftest import Project, Session, code


def evidence(session: Session, *others: Session) -> list[Evidence]:
    """What joins a session to its commits."""
    return [item.evidence for item in session.outcome(*others).commits]


def test_a_commit_that_a_person_made_of_the_edits_is_joined_by_its_files(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    project.commit("A person commits")
    assert evidence(session) == [Evidence.FILES]


def test_only_the_first_commit_of_a_file_after_an_edit_is_of_the_session(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    project.commit("A person commits")
    project.write("cart.py", code("basket"))
    project.commit("Later work")
    assert len(session.outcome().commits) == 1


def test_a_commit_before_the_edit_or_days_after_it_is_not(project: Project) -> None:
    project.write("cart.py", code("cart", 3))
    project.commit("Earlier work")
    session = Session(project)
    session.edit("cart.py", code("cart"))
    assert session.outcome().known is Known.UNKNOWN
    project.now += 3 * 86_400
    project.commit("Much later")
    assert session.outcome().known is Known.UNKNOWN


def test_a_commit_of_mostly_other_files_is_not(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    for name in ("one", "two", "three"):
        project.write(f"{name}.py", code(name))
    project.commit("Large work")
    assert session.outcome().known is Known.UNKNOWN


def test_the_commits_of_another_clone_are_unknown_and_not_zero(project: Project) -> None:
    session = Session(project)
    session.shell("git commit -m x", "[main abc1234] Something else\n 1 file changed, 1 insertion(+)")
    outcome = session.outcome()
    assert (outcome.known, outcome.missing_commits) == (Known.UNKNOWN, 1)


def test_a_session_without_edits_shipped_nothing(project: Project) -> None:
    session = Session(project)
    session.shell("git log --oneline", f"{project.head()[:7]} Start")
    assert session.outcome().known is Known.NOTHING


def test_a_hash_that_a_quiet_commit_printed_afterwards_counts(project: Project) -> None:
    session = Session(project)
    project.write("cart.py", code("cart"))
    project.commit("Add the cart")
    session.shell("git commit -qm 'Add the cart' && git rev-parse --short HEAD", project.head()[:9])
    assert evidence(session) == [Evidence.HASH]


def test_a_change_counts_for_the_session_that_committed_it_though_two_worked_on_it(project: Project) -> None:
    writer, committer = Session(project, "writer"), Session(project, "committer")
    writer.edit("cart.py", code("cart"))
    committer.edit("order.py", code("order"))
    committer.commit("Add both")
    of_writer, of_committer = writer.outcome(committer), committer.outcome(writer)
    assert [item.counts_here for item in of_writer.commits] == [False]
    assert [item.counts_here for item in of_committer.commits] == [True]


def test_trailers_say_nothing(project: Project) -> None:
    project.write("cart.py", code("cart"))
    project.commit("Add the cart\n\nEntire-Checkpoint: 0123456789ab")
    session = Session(project)
    session.shell("echo 0123456789ab", "0123456789ab")
    assert session.outcome().commits == ()
