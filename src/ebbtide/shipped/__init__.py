"""The commits of sessions in a repository of git, and what became of them."""
