"""The official Python SDKs of Anthropic, OpenAI and Google against the sandbox, streaming and not."""

import json
import os

import anthropic
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types

URL = os.environ["LOUVER_SANDBOX"]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TASK = "Read a.txt and b.txt."
FIRST, LAST = "I read both files.", "Both files say hello."
PATHS = [{"path": "a.txt"}, {"path": "b.txt"}]


def claude(run):
    return anthropic.Anthropic(
        base_url=URL, api_key="key", max_retries=0, default_headers={"x-sandbox-run": "python-" + run}
    )


def gpt(run):
    return openai.OpenAI(
        base_url=URL + "/v1", api_key="key", max_retries=0, default_headers={"x-sandbox-run": "python-" + run}
    )


def gemini(run):
    options = types.HttpOptions(base_url=URL, headers={"x-sandbox-run": "python-" + run})
    return genai.Client(api_key="key", vertexai=False, http_options=options)


def messages(streaming):
    client = claude(f"messages-{streaming}")
    history = [{"role": "user", "content": TASK}]
    request = dict(
        model="claude-opus-5-5",
        max_tokens=2048,
        thinking={"type": "adaptive"},
        tools=[{"name": "read_file", "input_schema": SCHEMA}],
    )

    def ask():
        if not streaming:
            return client.messages.create(messages=history, **request)
        with client.messages.stream(messages=history, **request) as stream:
            return stream.get_final_message()

    first = ask()
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"], first
    assert first.content[1].text == FIRST and first.stop_reason == "tool_use"
    assert [block.input for block in first.content[2:]] == PATHS
    assert first.usage.input_tokens > 0 and first.usage.output_tokens > 0
    history.append({"role": "assistant", "content": first.content})
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "hello"} for block in first.content[2:]]
    history.append({"role": "user", "content": results})
    last = ask()
    assert last.content[-1].text == LAST and last.stop_reason == "end_turn", last

    count = client.messages.count_tokens(model="claude-opus-5-5", messages=history, tools=request["tools"])
    assert count.input_tokens > 0
    history[0]["content"] = "Something else."
    refused(anthropic.BadRequestError, "bound to a different conversation", ask)


def completions(streaming):
    client = gpt(f"completions-{streaming}")
    history = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]

    def ask():
        if not streaming:
            return client.chat.completions.create(model="gpt-5", messages=history, tools=tools)
        options = {"include_usage": True}
        with client.chat.completions.stream(
            model="gpt-5", messages=history, tools=tools, stream_options=options
        ) as stream:
            for _ in stream:
                pass
            return stream.get_final_completion()

    first = ask()
    message = first.choices[0].message
    assert message.content == FIRST and first.choices[0].finish_reason == "tool_calls", first
    assert [json.loads(call.function.arguments) for call in message.tool_calls] == PATHS
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in message.tool_calls
    ]
    history.append({"role": "assistant", "content": message.content, "tool_calls": calls})
    refused(openai.BadRequestError, "must be followed by tool messages", ask)
    history.extend({"role": "tool", "tool_call_id": call["id"], "content": "hello"} for call in calls)
    assert ask().choices[0].message.content == LAST


def responses(streaming):
    client = gpt(f"responses-{streaming}")
    history = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}]

    def ask(**more):
        request = dict(model="gpt-5", input=history, tools=tools, **more)
        if not streaming:
            return client.responses.create(**request)
        with client.responses.stream(**request) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()

    first = ask()
    assert first.output_text == FIRST, first
    calls = [item for item in first.output if item.type == "function_call"]
    assert [json.loads(call.arguments) for call in calls] == PATHS
    assert first.usage.output_tokens_details.reasoning_tokens > 0
    outputs = [{"type": "function_call_output", "call_id": call.call_id, "output": "hello"} for call in calls]
    history[:] = outputs
    refused(openai.BadRequestError, "No tool call found for function call output", ask)
    assert ask(previous_response_id=first.id).output_text == LAST


def contents(streaming):
    client = gemini(f"contents-{streaming}")
    history = [types.UserContent(TASK)]
    declared = types.FunctionDeclaration(name="read_file", description="Reads.", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )

    def ask():
        request = dict(model="gemini-2.5-pro", contents=history, config=config)
        if not streaming:
            answer = client.models.generate_content(**request)
            return answer.candidates[0].content.parts, answer.usage_metadata
        chunks = list(client.models.generate_content_stream(**request))
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
        return parts, chunks[-1].usage_metadata

    def said(parts):
        return "".join(part.text for part in parts if part.text and not part.thought)

    parts, usage = ask()
    calls = [part.function_call for part in parts if part.function_call]
    assert said(parts) == FIRST, parts
    assert [call.args for call in calls] == PATHS
    assert usage.prompt_token_count > 0 and usage.total_token_count > usage.prompt_token_count, usage
    history.append(types.Content(role="model", parts=parts))
    results = [types.Part.from_function_response(name=call.name, response={"output": "hello"}) for call in calls]
    history.append(types.Content(role="user", parts=results[:1]))
    refused(genai_errors.ClientError, "number of function response parts", ask)
    history[-1] = types.Content(role="user", parts=results)
    parts, _ = ask()
    assert said(parts) == LAST, parts


def refused(kind, words, ask):
    try:
        ask()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"not refused: {words}")


def errors():
    client = anthropic.Anthropic(base_url=URL, api_key="bad", max_retries=0)
    refused(anthropic.AuthenticationError, "invalid x-api-key", lambda: client.models.list())
    long = [{"role": "user", "content": "x" * 100_000}]
    ask = lambda: claude("errors").messages.create(model="claude-sonnet-5", max_tokens=10, messages=long)
    refused(anthropic.BadRequestError, "prompt is too long: 25000 tokens > 20000 maximum", ask)
    ask = lambda: gpt("errors").chat.completions.create(model="gpt-5", messages=long)
    refused(openai.BadRequestError, "maximum context length is 20000 tokens", ask)
    # It closes its connections when nobody holds it any more.
    google = gemini("errors")
    ask = lambda: google.models.generate_content(model="gemini-2.5-pro", contents="x" * 100_000)
    refused(genai_errors.ClientError, "input token count (25000) exceeds the maximum", ask)
    count = google.models.count_tokens(model="gemini-2.5-pro", contents="x" * 400)
    assert count.total_tokens == 100, count
    assert any(model.id == "claude-opus-5-5" for model in claude("errors").models.list())
    assert any(model.id == "gpt-5" for model in gpt("errors").models.list())
    assert claude("errors").models.retrieve("claude-sonnet-5").id == "claude-sonnet-5"


for streaming in (False, True):
    messages(streaming)
    completions(streaming)
    responses(streaming)
    contents(streaming)
errors()
print("python: ok", anthropic.__version__, openai.__version__, genai.__version__)
