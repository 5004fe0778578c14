"""What the real SDKs make of the documented answers of their providers, read by `Usage.of`.

Each SDK's own client talks to a server on this machine that gives the documented answer, so that the objects
are those that users get. `make test-sdks` runs this with all of them. With EBBTIDE_RECORD_ANSWERS set, too,
it writes what the objects look like to `provider_answers.json`, from which `test_provider_answers.py` proves
the same without any SDK.
"""

import asyncio
import gc
import importlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import ModelCall, ToolCall
from ebbtide.events.usage import Usage

FILE = Path(__file__).with_name("provider_answers.json")
CASES = json.loads(FILE.read_text(encoding="utf-8"))
EVERY_SDK = bool(os.environ.get("EBBTIDE_EVERY_SDK"))  # a missing one is a failure
RECORDING = bool(os.environ.get("EBBTIDE_RECORD_ANSWERS"))

pytestmark = pytest.mark.filterwarnings("default")  # The SDKs warn about each other's versions.


class Provider(ThreadingHTTPServer):
    """Gives one answer to every request, as JSON or as events."""

    answer: Any = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        answer = self.server.answer
        if isinstance(answer, list):
            names = [f"event: {item['type']}\n" if "type" in item else "" for item in answer]
            events = [f"{name}data: {json.dumps(item)}\n\n" for name, item in zip(names, answer, strict=True)]
            done = "data: [DONE]\n\n" if answer[0].get("object") == "chat.completion.chunk" else ""
            kind, body = "text/event-stream", "".join([*events, done])
        else:
            kind, body = "application/json", json.dumps(answer)
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()
    gc.collect()  # What clients leave open is reported here, and not in a later test.


MESSAGES: Any = [{"role": "user", "content": "Read page 3."}]


def openai_client(url: str) -> Any:
    return importlib.import_module("openai").OpenAI(base_url=url, api_key="none", max_retries=0)


def anthropic_client(url: str) -> Any:
    return importlib.import_module("anthropic").Anthropic(base_url=url, api_key="none", max_retries=0)


def gemini_client(url: str) -> Any:
    genai = importlib.import_module("google.genai")
    return genai.Client(api_key="none", http_options={"base_url": url})


def gemini_answer(url: str) -> Any:
    with gemini_client(url) as client:
        return client.models.generate_content(model="gemini-2.5-flash", contents="Read.")


def gemini_stream(url: str) -> Any:
    with gemini_client(url) as client:
        return list(client.models.generate_content_stream(model="gemini-2.5-flash", contents="Read."))


def mistral_client(url: str) -> Any:
    return importlib.import_module("mistralai.client").Mistral(api_key="none", server_url=url).chat


def litellm_answer(url: str, model: str) -> Any:
    litellm = importlib.import_module("litellm")
    return litellm.completion(model, MESSAGES, api_base=url, api_key="none")


def bedrock_client(url: str) -> Any:
    session = importlib.import_module("botocore.session").get_session()
    session.set_credentials("none", "none")
    return session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=url)


def converse_stream(_url: str, items: Any) -> Any:
    """The items, each as the model of the service has it: it sends them in a binary form."""
    model = bedrock_client("http://127.0.0.1").meta.service_model
    shape = model.shape_for("ConverseStreamOutput")
    for item in items:
        problems = importlib.import_module("botocore.validate").ParamValidator().validate(item, shape)
        assert not problems.has_errors(), problems.generate_report()
    return items


def langchain_message(_url: str, fields: Any) -> Any:
    return importlib.import_module("langchain_core.messages").AIMessage(**fields)


def pydantic_ai_result(url: str, provider: str, model: str) -> Any:
    models = importlib.import_module(f"pydantic_ai.models.{provider}")
    providers = importlib.import_module(f"pydantic_ai.providers.{provider}")
    kind = {"openai": "OpenAIChatModel", "anthropic": "AnthropicModel"}[provider]
    own = {"openai": "OpenAIProvider", "anthropic": "AnthropicProvider"}[provider]
    arguments = {"base_url": url, "api_key": "none"}
    agent = importlib.import_module("pydantic_ai").Agent(
        getattr(models, kind)(model, provider=getattr(providers, own)(**arguments))
    )
    return asyncio.run(agent.run("Read page 3."))


GPT, CLAUDE = "gpt-4.1", "claude-opus-4-8"
DRIVERS = {
    "openai_chat": lambda url, _: openai_client(url).chat.completions.create(model=GPT, messages=MESSAGES),
    "openai_chat_stream": lambda url, _: list(
        openai_client(url).chat.completions.create(
            model=GPT, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
    ),
    "openai_responses": lambda url, _: openai_client(url).responses.create(model=GPT, input="Read."),
    "openai_responses_stream": lambda url, _: list(
        openai_client(url).responses.create(model=GPT, input="Read.", stream=True)
    ),
    "openai_embeddings": lambda url, _: openai_client(url).embeddings.create(
        model="text-embedding-3-small", input="Read.", encoding_format="float"
    ),
    "anthropic_messages": lambda url, _: anthropic_client(url).messages.create(
        model=CLAUDE, max_tokens=9, messages=MESSAGES
    ),
    "anthropic_messages_stream": lambda url, _: list(
        anthropic_client(url).messages.create(model=CLAUDE, max_tokens=9, messages=MESSAGES, stream=True)
    ),
    "gemini": lambda url, _: gemini_answer(url),
    "gemini_stream": lambda url, _: gemini_stream(url),
    "bedrock_converse": lambda url, _: bedrock_client(url).converse(
        modelId=CLAUDE, messages=[{"role": "user", "content": [{"text": "Read."}]}]
    ),
    "bedrock_converse_stream": converse_stream,
    "mistral": lambda url, _: mistral_client(url).complete(model="mistral-small-latest", messages=MESSAGES),
    "mistral_stream": lambda url, _: list(
        mistral_client(url).stream(model="mistral-small-latest", messages=MESSAGES)
    ),
    "litellm_openai": lambda url, _: litellm_answer(url, f"openai/{GPT}"),
    "litellm_anthropic": lambda url, _: litellm_answer(url, f"anthropic/{CLAUDE}"),
    "langchain": langchain_message,
    "pydantic_ai_openai": lambda url, _: pydantic_ai_result(f"{url}/v1", "openai", GPT),
    "pydantic_ai_anthropic": lambda url, _: pydantic_ai_result(url, "anthropic", CLAUDE),
}


def plain(answer: Any) -> Any:
    """An answer as JSON, in the SDK's own way."""
    if type(answer).__name__ == "AgentRunResult":
        answer = answer.usage
    if not hasattr(answer, "model_dump_json"):
        answer = importlib.import_module("pydantic").TypeAdapter(type(answer)).dump_json(answer)
    fields = json.loads(answer if isinstance(answer, bytes) else answer.model_dump_json())
    # Headers of this machine's server.
    return {
        key: value for key, value in fields.items() if key not in ("ResponseMetadata", "sdk_http_response")
    }


def record(case: dict[str, Any], answer: Any) -> None:
    """Keep what an SDK makes of an answer in the file of the cases."""
    cases = json.loads(FILE.read_text(encoding="utf-8"))
    next(each for each in cases if each["name"] == case["name"])["recorded"] = answer
    lines = ",\n".join(json.dumps(each) for each in cases)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


# What a way of calling needs beside the SDK of the case.
SDKS = {
    "pydantic_ai_openai": ("pydantic_ai", "openai"),
    "pydantic_ai_anthropic": ("pydantic_ai", "anthropic"),
}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_answers_of_real_clients(
    case: dict[str, Any], provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an SDK's client returns states the usage, the words and the calls that its provider sent."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    if not EVERY_SDK:
        for name in SDKS.get(case["driver"], (case["sdk"],)):
            pytest.importorskip(
                name, reason=f"{name} is not installed here: make test-sdks", exc_type=ImportError
            )
    provider.answer = case["answer"]
    answer = DRIVERS[case["driver"]](provider.url, case["answer"])
    usage = Usage()
    for item in answer if isinstance(answer, list) else [answer]:
        usage = usage.updated(Usage.of(item) or Usage())
    if case["usage"]["cost_usd"] == "any":  # by a table of the SDK
        assert usage.cost_usd is None or usage.cost_usd > 0
        usage = replace(usage, cost_usd="any")  # type: ignore[arg-type]
    assert asdict(usage) == {"tier": None, **case["usage"]}
    if RECORDING:
        record(case, [plain(item) for item in answer] if isinstance(answer, list) else plain(answer))
    if not isinstance(answer, list):
        assert ModelCall.of(answer).text == case["text"]
        assert [[call.name, call.args] for call in ToolCall.started_in(answer)] == case["calls"]
