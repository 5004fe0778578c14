"""What stands in for a model's answer where the SDK is not installed: the client only offers its methods."""

import subprocess
import sys

LOOP = """
import sys
sys.modules["openai"] = sys.modules["anthropic"] = None  # as where they are not installed
from types import SimpleNamespace as Plain
from ebbtide.adapters.watched_client import watch

def ask(**_):
    call = {"id": "t", "type": "tool_use", "name": "web_search", "input": {"q": "x"}}
    return {"id": "m", "type": "message", "role": "assistant", "content": [call], "stop_reason": "tool_use"}

def chat(**_):
    function = {"name": "web_search", "arguments": "{}"}
    message = {"role": "assistant", "content": None}
    message["tool_calls"] = [{"id": "t", "type": "function", "function": function}]
    return {"id": "c", "choices": [{"message": message, "finish_reason": "tool_calls"}]}

completions = Plain(create=chat)
client = watch(Plain(messages=Plain(create=ask), chat=Plain(completions=completions)))
messages = [{"role": "user", "content": "Find x."}]
for _ in range(9):
    answer = client.messages.create(model="m", messages=messages, stream=False)
    if not isinstance(answer, dict):
        break
    block = {"type": "tool_result", "tool_use_id": "t", "content": "none"}
    messages += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": [block]}]
print(answer.stop_reason, answer.content[0].text)
parts = client.messages.create(model="m", messages=messages, stream=True)
print("".join(part.delta.text for part in parts if part.type == "content_block_delta"))

messages = [{"role": "user", "content": "Find y."}]
for _ in range(9):
    answer = client.chat.completions.create(model="m", messages=messages)
    if not isinstance(answer, dict):
        break
    messages += [answer["choices"][0]["message"], {"role": "tool", "tool_call_id": "t", "content": "none"}]
print(answer.choices[0].message.tool_calls, answer.choices[0].message.content)
"""


def test_a_run_is_ended_without_the_sdk() -> None:
    """With the attributes that a loop reads, streamed or not."""
    process = subprocess.run(
        [sys.executable, "-c", LOOP], capture_output=True, text=True, timeout=60, check=False
    )
    assert process.stderr == ""
    anthropic, stream, openai = process.stdout.splitlines()
    assert anthropic.startswith("end_turn ")
    assert "web_search 4 times in a row" in anthropic
    assert stream == anthropic.removeprefix("end_turn ")
    assert openai.startswith("None ")
