"""Texts that would run, load, add or shift something where a page took them for more than text."""

from __future__ import annotations

import html
import random
from collections.abc import Callable
from urllib.parse import quote

#: A function of the window that a payload calls, and the class and the host by which its traces are known.
MARKER, PLANTED, ELSEWHERE = "planted", "planted", "planted.invalid"
_RUN = f"{MARKER}(1)"

#: What ends the place in which a text stands.
_BREAKERS = (
    "", '">', "'>", ">", '" ', "' ", "` ", "</script>", "</SCRIPT >", "</title>", "</textarea>", "</style>",
    "</option></select>", "</iframe>", "</noscript>", "</svg>", "</template>", "-->", "]]>", "*/",
    '\\"', "\\", '");', "');", "`);", "};", "\n", "\u2028", "\u2029", "\n\nevent: run\ndata: ", "\r\n\r\n",
    "}}", "${", "javascript:", "<!--", "<!--<script>", "\N{NO-BREAK SPACE}",
)  # fmt: skip

#: What would act there.
_VECTORS = (
    f"<script class={PLANTED}>{_RUN}</script>",
    f"<img class={PLANTED} src=x onerror={_RUN}>",
    f"<svg class={PLANTED} onload={_RUN}>",
    f"<details class={PLANTED} open ontoggle={_RUN}>",
    f"<input class={PLANTED} autofocus onfocus={_RUN}>",
    f"<a class={PLANTED} href=javascript:{_RUN}>go</a>",
    f"<iframe class={PLANTED} srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    f"<iframe class={PLANTED} src=javascript:parent.{_RUN}></iframe>",
    f"<object class={PLANTED} data=//{ELSEWHERE}/o></object>",
    f"<img class={PLANTED} src=//{ELSEWHERE}/i.png>",
    f"<link class={PLANTED} rel=stylesheet href=//{ELSEWHERE}/s.css>",
    f"<meta class={PLANTED} http-equiv=refresh content='0;url=//{ELSEWHERE}/'>",
    f"<base class={PLANTED} href=//{ELSEWHERE}/>",
    f"<form class={PLANTED} action=//{ELSEWHERE}/><button autofocus>Stop</button></form>",
    f"<style class={PLANTED}>@import '//{ELSEWHERE}/s.css';*{{display:none}}</style>",
    f"<math><mtext><table><mglyph><style><img class={PLANTED} src=x onerror={_RUN}>",
    f"<template><script class={PLANTED}>{_RUN}</script></template><b class={PLANTED}>b</b>",
    f"<form id=main class={PLANTED}><input name=dataset></form>",
    f"x onmouseover={_RUN} onfocus={_RUN} autofocus tabindex=0 class={PLANTED} x=",
    f"javascript:{_RUN}",
    f"JaVa\tScRiPt:{_RUN}",
    f"data:text/html,<script>parent.{_RUN}</script>",
    f"[all is well](javascript:{_RUN})",
    f"![x](//{ELSEWHERE}/m.png)",
    f"<javascript:{_RUN}>",
    f"//{ELSEWHERE}/p",
    f"https://{ELSEWHERE}/p",
    f"background:url(//{ELSEWHERE}/b);position:fixed;inset:0",
    f"url(//{ELSEWHERE}/b)",
    f"{_RUN}//",
    f"-{_RUN}-",
    f"${{{_RUN}}}",
    f"{{{{constructor.constructor('{_RUN}')()}}}}",
    "__proto__",
    "constructor",
    "../../sign-in?token=x",
    "%2e%2e%2fmain",
    "#<b>",
)

#: What only tries to shift, hide or confuse.
_SHAPES = (
    "W" * 180,
    "\N{RIGHT-TO-LEFT OVERRIDE}dlrow olleh\N{POP DIRECTIONAL FORMATTING} exe.txt",
    "\N{RIGHT-TO-LEFT ISOLATE}\N{RIGHT-TO-LEFT EMBEDDING}$00.1 si tsoc",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd 123 \u05d0\u05d1\u05d2",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 (abc) \u0663\u0664",
    "\u6f22\u5b57" * 60,
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22" * 20,
    "a" + "\N{COMBINING CYRILLIC MILLIONS SIGN}\u0316\u0317" * 40,
    "\N{ZERO WIDTH SPACE}" * 50 + "x",
    "\N{ZERO WIDTH JOINER}".join("\U0001f468\U0001f469\U0001f467\U0001f466") * 12,
    "\N{ARABIC LIGATURE BISMILLAH AR-RAHMAN AR-RAHEEM}" * 30,
    "\N{NO-BREAK SPACE}".join("unbreakable") * 12,
    "\N{EM DASH}" * 120,
    "/very/long/path" * 12,
    "a.b_c-" * 30,
    "\N{LEFT-TO-RIGHT MARK}\N{ARABIC LETTER MARK}mark",
    "\t\t\t\ttabs",
    "\x1b[2J\x1b]0;title\x07\x9b31m",
    "\ufeff\ufffe\uffff\ufdd0",
    "null",
    "undefined",
    "NaN",
    "-1e309",
    " ",
)  # fmt: skip


def _fullwidth(text: str) -> str:
    """Letters that some converters make into plain ones."""
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)


#: Ways in which a text may have been written before somebody undoes them.
_DISGUISES: tuple[Callable[[str], str], ...] = (
    html.escape,
    quote,
    _fullwidth,
    lambda text: "".join(f"\\u{ord(each):04x}" if each in "<>\"'&" else each for each in text),
    lambda text: "".join(f"&#{ord(each)}" for each in text),
    lambda text: text.replace("<", "<\N{SOFT HYPHEN}"),
    lambda text: text.replace("<", "\N{RIGHT-TO-LEFT OVERRIDE}<"),
    lambda text: text.swapcase().replace(_RUN.swapcase(), _RUN),
)


def payload(chance: random.Random) -> str:
    """Returns a text of these."""
    kind = chance.random()
    if kind < 0.2:
        return chance.choice(_SHAPES)
    text = chance.choice(_BREAKERS) + chance.choice(_VECTORS)
    if kind < 0.35:
        text = chance.choice(_DISGUISES)(text)
    elif kind < 0.45:
        text += chance.choice(_SHAPES)
    elif kind < 0.5:
        text = chance.choice(_SHAPES) + text
    return text


def name(chance: random.Random) -> str:
    """Returns one that the service takes as a name: short, and without controls."""
    text = "".join(each for each in payload(chance) if each.isprintable() or ord(each) > 0x9F)
    return text.encode(errors="replace").decode()[:200].strip() or "a name"
