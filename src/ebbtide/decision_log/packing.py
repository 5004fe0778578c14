"""A long text in few characters of ASCII: zlib and base64."""

from __future__ import annotations

import base64
import zlib

from ebbtide.errors import ConfigError

WORTH_IT = 2048  #: characters from which a text is packed
_LARGEST = 64 << 20  # bytes


def pack(text: str) -> str:
    """A text, packed."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def unpack(packed: str) -> str:
    """What was packed.

    Raises:
        ConfigError: It is nothing that `pack` wrote, or more than 64 MB.

    >>> unpack(pack("a record"))
    'a record'
    """
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(base64.b64decode(packed, validate=True), _LARGEST)
        if not reader.eof:
            raise ConfigError("document.packed: it is cut off, or longer than 64 MB")
        return content.decode("utf-8", "surrogatepass")
    except (ValueError, TypeError, zlib.error) as error:
        raise ConfigError(f"document.packed: it cannot be read: {error}") from error
