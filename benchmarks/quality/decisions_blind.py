"""Fill the texts into the blind decision labels, and check them.

    python benchmarks/quality/decisions_blind.py --data DIR --part open > open.jsonl
    python benchmarks/quality/decisions_blind.py --data DIR --check

The texts of five genres stay in the data folder (its README asks not to commit them); the label
files hold their place, the SHA-256 of the masked text, and the labelled sentences as character
spans.  This script reads the texts at their places, masks names and keys, and writes whole lines.
Do not print the sealed part before the rules that are to be measured are fixed.
"""

import argparse
import functools
import gzip
import hashlib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADING = re.compile(r"^_\*\*(User|Agent[^*]*?)\s*(?:\([^)]*\))?\*\*_[ \t]*$", re.MULTILINE)
MASKS = [
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}"), "<email>"),
    (re.compile(r"(?i)(/Users/|[A-Z]:\\Users\\)(?!\[)[\w.-]+"), r"\1<user>"),
    (re.compile(r"(/var/folders/)\w+/\w+"), r"\1<tmp>"),
    (re.compile(r"(ssh-ed25519|ssh-rsa) AAAA[\w+/=]+"), r"\1 <key>"),
    (re.compile(r"\bSHA256:[\w+/=]{20,}"), "SHA256:<key>"),
    (re.compile(r"\b[0-9A-F]{16}\b"), "<key-id>"),
    (re.compile(r"\b[a-z]+_[a-z]+_\d{4}\b"), "<user-id>"),
    (re.compile(r"\b(slate(?:-\w+)?)\.[\w-]+\.us\b"), r"\1.<domain>"),
    (re.compile(r"(?m)(?<![\w/])\w+@book\b"), "<user>@<host>"),
    (re.compile(r"(?<![\w.])[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,7}(?![\w:])"), "<ip>"),
    (re.compile(r"(?m)^(\s+- )[A-Z][a-z]+ [A-Z][a-z]+$(?=\n\s+- [A-Z]|\n- \*\*Total)"), r"\1<name>"),
]


def mask(text: str) -> str:
    """The text with placeholders for names, addresses and keys."""
    for pattern, to in MASKS:
        text = pattern.sub(to, text)
    return text


@functools.cache
def load(path: str) -> str:
    """The whole file, unpacked."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as handle:
        return handle.read()


def raw(place: str, data: str) -> str:
    """The text at "FILE#key=value,key=value" under the data folder, not masked."""
    name, _, rest = place.partition("#")
    at = {k: int(v) for k, v in (pair.split("=") for pair in rest.split(","))}
    body = load(str(pathlib.Path(data) / name))
    if "heading" in at:  # a chat in markdown
        heads = list(HEADING.finditer(body))
        i = at["heading"]
        end = heads[i + 1].start() if i + 1 < len(heads) else len(body)
        text = body[heads[i].end() : end].strip()
        text = re.sub(r"^---\s*|\s*---$", "", text).strip()
        return re.split(r"<tool-use|^Tool use:", text, flags=re.MULTILINE)[0].strip()
    if "block" in at:  # a session of Claude Code
        content = json.loads(body.split("\n")[at["line"]])["message"]["content"]
        return (content if isinstance(content, str) else content[at["block"]]["text"]).strip()
    if "condec" in name:
        lines = body.split("\n")[at["line"] : at["line"] + at["sentences"]]
        return "\n".join(json.loads(line)["text"] for line in lines)
    if "task" in at:
        task = next(t for t in json.loads(body) if t["task_id"] == at["task"])
        return task["traj"][at["message"]]["content"].strip()
    document = json.loads(body)
    if "history" in document:
        return document["history"][at["message"]]["content"].strip()
    thought = document["messages"][at["message"]]["content"].split("```")[0]
    return re.sub(r"^\s*THOUGHT:\s*", "", thought).strip()


def fill(row: dict, data: str) -> dict:
    """One whole row: text and sentences in, spans and hash out."""
    row = dict(row)
    if row["text"] is None:
        row["text"] = mask(raw(row["source"], data))
        digest = hashlib.sha256(row["text"].encode()).hexdigest()
        if digest != row["sha256"]:
            raise SystemExit(f"{row['id']}: the text at {row['source']} is not the labelled one")
        row["sentences"] = [row["text"][a:b] for a, b in row["spans"]]
    row.pop("sha256", None)
    row.pop("spans", None)
    return row


def check(row: dict) -> None:
    """Stop at a row that breaks the format."""
    assert row["label"] in ("decision", "proposal", "none"), row["id"]
    assert row["by"] in ("user", "agent"), row["id"]
    assert isinstance(row["doubt"], bool), row["id"]
    assert 0 < len(row["text"]) <= 3000, row["id"]
    assert all(s and s in row["text"] for s in row["sentences"]), row["id"]
    assert bool(row["sentences"]) == (row["label"] != "none"), row["id"]
    assert bool(row["chosen"]) == (row["label"] != "none"), row["id"]


def rows(part: str) -> list[dict]:
    """The stored rows of one part."""
    name = "decisions_tuning" if part == "tuning" else f"decisions_blind_{part}"
    text = (HERE / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def main() -> None:
    """Print one part with its texts, or check both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--part", choices=("open", "sealed"), default="open")
    parser.add_argument("--check", action="store_true", help="check both parts, print counts only")
    args = parser.parse_args()
    if not pathlib.Path(args.data).is_dir():
        sys.exit(f"no data folder {args.data}")
    if args.check:
        for part, odd in (("open", 0), ("sealed", 1)):
            full = [fill(row, args.data) for row in rows(part)]
            for row in full:
                check(row)
            ids = [row["id"] for row in full]
            assert ids == sorted(set(ids))
            assert len(ids) == 150
            assert all(int(i[-3:]) % 2 == odd for i in ids)
            print(f"{part}: {len(full)} rows, all sentences are substrings of their texts")
        return
    for row in rows(args.part):
        print(json.dumps(fill(row, args.data), ensure_ascii=False))


if __name__ == "__main__":
    main()
