"""The fates of commits, in repositories that git makes here."""

import pytest

from ebbtide.supervision.summary.run_shipped import Evidence, Fate, Known, RunCommit, RunShipped
from tests.shipped.conftest import Project, Session, code


def only(outcome: RunShipped) -> RunCommit:
    """The one change of a session."""
    assert outcome.known is Known.COMMITS
    (change,) = outcome.commits or ()
    return change


def test_a_commit_on_the_default_branch_landed_with_its_lines(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    made = session.commit("Add the cart")
    change = only(session.outcome())
    assert (change.commit, change.fate, change.lines_added, change.lines_surviving) == (
        made,
        Fate.LANDED,
        10,
        10,
    )
    assert session.outcome().commits[0].evidence is Evidence.HASH


def test_a_commit_of_a_branch_is_open_and_its_surviving_lines_are_unknown(project: Project) -> None:
    session = Session(project)
    project.git("switch", "-qc", "feature")
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.git("switch", "-q", "main")
    change = only(session.outcome())
    assert (change.fate, change.lines_surviving) == (Fate.OPEN, None)


def test_a_commit_of_a_deleted_branch_is_lost(project: Project) -> None:
    session = Session(project)
    project.git("switch", "-qc", "feature")
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.git("switch", "-q", "main")
    project.git("branch", "-D", "feature")
    assert only(session.outcome()).fate is Fate.LOST


def test_a_revert_takes_a_commit_back_and_a_revert_of_that_brings_it_back(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    made = session.commit("Add the cart")
    project.git("revert", "--no-edit", made)
    change = only(session.outcome())
    assert (change.fate, change.reverted_by) == (Fate.REVERTED, project.head())
    assert not change.fate.is_landed
    project.git("revert", "--no-edit", "HEAD")
    assert only(session.outcome()).fate is not Fate.REVERTED


def test_a_revert_of_a_merge_takes_back_what_it_merged(project: Project) -> None:
    session = Session(project)
    project.git("switch", "-qc", "feature")
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    assert only(session.outcome()).fate is Fate.LANDED
    project.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert only(session.outcome()).fate is Fate.REVERTED


def test_an_amended_commit_is_one_change(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    session.edit("cart.py", code("cart", 12))
    made = session.commit("Add a cart", "--amend")
    outcome = session.outcome()
    assert (only(outcome).commit, only(outcome).lines_surviving, outcome.missing_commits) == (made, 12, 0)


@pytest.mark.parametrize("is_gone", [False, True], ids=["the branch is there", "the branch is deleted"])
def test_a_squash_of_two_commits_is_one_landed_change(project: Project, is_gone: bool) -> None:
    session = Session(project)
    project.git("switch", "-qc", "feature")
    for name in ("cart", "order"):
        session.edit(f"{name}.py", code(name))
        session.commit(f"Add {name}")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--squash", "feature")
    project.commit("Shopping (#7)")
    if is_gone:
        project.git("branch", "-D", "feature")
    change = only(session.outcome())
    assert (change.commit, change.fate, change.lines_added, change.lines_surviving) == (
        project.head(),
        Fate.LANDED,
        20,
        20,
    )


def test_a_rebased_commit_is_the_same_change(project: Project) -> None:
    session = Session(project)
    project.git("switch", "-qc", "feature")
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.git("switch", "-q", "main")
    project.write("other.py", code("other"))
    project.commit("Other work")
    project.git("switch", "-q", "feature")
    project.git("rebase", "-q", "main")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--ff-only", "feature")
    change = only(session.outcome())
    assert (change.commit, change.fate) == (project.head(), Fate.LANDED)


def test_a_rebased_commit_is_found_by_its_title_where_the_old_one_is_gone(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    printed = session.commit("Add the cart")
    session.work.commits[0] = session.work.commits[0]._replace(
        printed=session.work.commits[0].printed.__class__("0" * 7, "Add the cart", "main")
    )
    session.work.edits.clear()
    outcome = session.outcome()
    assert (only(outcome).commit, outcome.commits[0].evidence, outcome.missing_commits) == (
        printed,
        Evidence.TITLE,
        0,
    )


def test_lines_that_people_replaced_are_counted_and_a_change_of_few_is_rewritten(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.write("cart.py", [*code("cart", 4), *code("basket", 6)])
    project.commit("Rename most")
    assert (only(session.outcome()).fate, only(session.outcome()).lines_surviving) == (Fate.LANDED, 4)
    project.write("cart.py", [*code("cart", 2), *code("basket", 8)])
    project.commit("Rename more")
    assert (only(session.outcome()).fate, only(session.outcome()).lines_surviving) == (Fate.REWRITTEN, 2)


def test_a_change_that_sessions_replaced_is_not_rewritten_by_people(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    session.edit("cart.py", code("basket"))
    session.commit("Call it a basket")
    first, second = session.outcome().commits
    assert (first.fate, first.lines_surviving) == (Fate.LANDED, 0)
    assert (second.fate, second.lines_surviving) == (Fate.LANDED, 10)


def test_lines_survive_the_renaming_of_their_file_and_not_its_deletion(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.git("mv", "cart.py", "basket.py")
    project.commit("Rename the file")
    assert only(session.outcome()).lines_surviving == 10
    project.git("rm", "-q", "basket.py")
    project.commit("Delete the file")
    assert only(session.outcome()).lines_surviving == 0


def test_lock_files_and_vendored_files_do_not_count(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    session.edit("uv.lock", code("lock", 300))
    session.edit("vendor/lib.py", code("lib", 300))
    session.commit("Add the cart")
    assert (only(session.outcome()).lines_added, only(session.outcome()).lines_surviving) == (10, 10)


def test_the_default_branch_is_that_of_the_remote(project: Project) -> None:
    session = Session(project)
    project.git("switch", "-qc", "stable")
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    assert only(session.outcome()).fate is Fate.OPEN
    project.git("update-ref", "refs/remotes/origin/stable", "stable")
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/stable")
    assert only(session.outcome()).fate is Fate.LANDED
