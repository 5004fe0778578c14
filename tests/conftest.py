"""What all tests share: where things are, and how hypothesis runs."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Time limits on single examples say more about the machine than about the code.
settings.register_profile("ebbtide", deadline=None, print_blob=True)
settings.load_profile("ebbtide")


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data(project: Path) -> Path:
    """The folder of real data, which is not part of the project."""
    folder = Path(os.environ.get("EBBTIDE_DATA", project.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; EBBTIDE_DATA names another place")
    return folder
