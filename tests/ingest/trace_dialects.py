"""One conversation as each framework writes it: asked, a call with its arguments and result, an answer."""
# ruff: noqa: E501 - tables read better with one line a message

import json
from typing import Any

Q, A, R, ARGS, ID = "Weather in Paris?", "It rains.", "rainy", {"city": "Paris"}, "k"
TEXT_ARGS = json.dumps(ARGS)


def lc(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


LC_CALL = {"name": "look", "args": ARGS, "id": ID, "type": "tool_call"}
OPENAI_CALL = {"id": ID, "type": "function", "function": {"name": "look", "arguments": TEXT_ARGS}}

CONVERSATIONS: dict[str, Any] = {
    "LangChain, model dumps": [
        {"type": "human", "content": Q, "additional_kwargs": {}, "response_metadata": {}, "id": None},
        {"type": "ai", "content": "", "tool_calls": [LC_CALL], "invalid_tool_calls": [], "additional_kwargs": {}},
        {"type": "tool", "content": R, "name": "look", "tool_call_id": ID, "status": "success", "artifact": None},
        {"type": "ai", "content": A, "tool_calls": [], "usage_metadata": {"total_tokens": 3}},
    ],
    "LangChain, calls of OpenAI alone": [
        {"type": "human", "content": Q},
        {"type": "AIMessageChunk", "content": "", "additional_kwargs": {"tool_calls": [OPENAI_CALL]}},
        {"type": "tool", "content": R, "tool_call_id": ID}, {"type": "ai", "content": A},
    ],
    "LangChain, both spellings of a call": [
        {"type": "human", "content": Q},
        {"type": "ai", "content": [{"type": "tool_use", "id": ID, "name": "look", "input": ARGS}], "tool_calls": [LC_CALL], "additional_kwargs": {"tool_calls": [OPENAI_CALL]}},
        {"type": "tool", "content": R, "tool_call_id": ID}, {"type": "ai", "content": A},
    ],
    "LangChain, messages_to_dict": [
        {"type": "human", "data": {"content": Q, "type": "human"}},
        {"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": [LC_CALL]}},
        {"type": "tool", "data": {"content": R, "type": "tool", "tool_call_id": ID}},
        {"type": "ai", "data": {"content": A}},
    ],
    "LangChain, constructors": [
        lc("HumanMessage", content=Q), lc("AIMessage", content="", tool_calls=[LC_CALL]),
        lc("ToolMessage", content=R, tool_call_id=ID), lc("AIMessage", content=A, type="ai"),
    ],
    "LangChain, an agent's result": {
        "input": Q, "output": A,
        "intermediate_steps": [[{"tool": "look", "tool_input": ARGS, "log": "…", "type": "AgentAction"}, R]],
    },
    "LangChain, an agent's result of constructors": {
        "input": Q, "output": A, "intermediate_steps": [[lc("AgentAction", tool="look", tool_input=ARGS, log=""), R]],
    },
    "ragas": [
        {"type": "human", "content": Q, "metadata": None},
        {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": ARGS}]},
        {"type": "tool", "content": R}, {"type": "ai", "content": A, "tool_calls": None},
    ],
    "Inspect": [
        {"role": "user", "source": "input", "content": Q},
        {"role": "assistant", "source": "generate", "content": [{"type": "text", "text": ""}], "tool_calls": [{"id": ID, "function": "look", "arguments": ARGS, "type": "function"}]},
        {"role": "tool", "tool_call_id": ID, "function": "look", "content": R}, {"role": "assistant", "content": A},
    ],
    "Gemini": {"contents": [
        {"role": "user", "parts": [{"text": Q}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": ARGS, "id": ID}, "thoughtSignature": "x"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": R}, "id": ID}}]},
        {"role": "model", "parts": [{"text": A}]},
    ]},
    "Gemini, snake case, no ids": [
        {"role": "user", "parts": [{"text": Q}]},
        {"role": "model", "parts": [{"function_call": {"name": "look", "args": ARGS}}]},
        {"role": "function", "parts": [{"function_response": {"name": "look", "response": R}}]},
        {"role": "model", "parts": [{"text": A}]},
    ],
    "Bedrock": [
        {"role": "user", "content": [{"text": Q}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": ID, "name": "look", "input": ARGS}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": ID, "content": [{"text": R}], "status": "success"}}]},
        {"role": "assistant", "content": [{"text": A}]},
    ],
    "Vercel, parts of a typed tool": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": Q}]},
        {"id": "2", "role": "assistant", "parts": [
            {"type": "step-start"},
            {"type": "tool-look", "toolCallId": ID, "state": "output-available", "input": ARGS, "output": R},
            {"type": "text", "text": A, "state": "done"},
        ]},
    ],
    "Vercel, a dynamic tool": [
        {"role": "user", "parts": [{"type": "text", "text": Q}]},
        {"role": "assistant", "parts": [
            {"type": "dynamic-tool", "toolName": "look", "toolCallId": ID, "state": "output-available", "input": ARGS, "output": R},
            {"type": "text", "text": A},
        ]},
    ],
    "Vercel 4, tool-invocation": [
        {"role": "user", "content": Q, "parts": [{"type": "text", "text": Q}]},
        {"role": "assistant", "content": A, "parts": [
            {"type": "tool-invocation", "toolInvocation": {"state": "result", "step": 0, "toolCallId": ID, "toolName": "look", "args": ARGS, "result": R}},
            {"type": "text", "text": A},
        ], "toolInvocations": [{"state": "result", "toolCallId": ID, "toolName": "look", "args": ARGS, "result": R}]},
    ],
    "Vercel, model messages": [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": ID, "toolName": "look", "input": ARGS}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": ID, "toolName": "look", "output": {"type": "text", "value": R}}]},
        {"role": "assistant", "content": [{"type": "text", "text": A}]},
    ],
    "Vercel 4, model messages": [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": ID, "toolName": "look", "args": ARGS}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": ID, "toolName": "look", "result": R}]},
        {"role": "assistant", "content": A},
    ],
    "pydantic-ai": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": Q, "timestamp": "2025-01-01T00:00:00Z"}]},
        {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "look", "args": TEXT_ARGS, "tool_call_id": ID}], "model_name": "m"},
        {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "look", "content": R, "tool_call_id": ID}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": A}]},
    ],
    "AutoGen": [
        {"source": "user", "type": "TextMessage", "content": Q, "models_usage": None, "metadata": {}},
        {"source": "bot", "type": "ToolCallRequestEvent", "content": [{"id": ID, "name": "look", "arguments": TEXT_ARGS}]},
        {"source": "bot", "type": "ToolCallExecutionEvent", "content": [{"content": R, "name": "look", "call_id": ID, "is_error": False}]},
        {"source": "bot", "type": "TextMessage", "content": A},
    ],
    "AutoGen, a result of a team": {"messages": [
        {"source": "user", "type": "TextMessage", "content": Q},
        {"source": "bot", "type": "ToolCallRequestEvent", "content": [{"id": ID, "name": "look", "arguments": TEXT_ARGS}]},
        {"source": "bot", "type": "ToolCallExecutionEvent", "content": [{"content": R, "call_id": ID, "is_error": False}]},
        {"source": "bot", "type": "ToolCallSummaryMessage", "content": A},
    ], "stop_reason": None},
    "AutoGen, messages of models": [
        {"type": "UserMessage", "source": "user", "content": Q},
        {"type": "AssistantMessage", "source": "bot", "content": [{"id": ID, "name": "look", "arguments": TEXT_ARGS}]},
        {"type": "FunctionExecutionResultMessage", "content": [{"content": R, "name": "look", "call_id": ID, "is_error": False}]},
        {"type": "AssistantMessage", "source": "bot", "content": A},
    ],
    "AutoGen 0.2": [
        {"role": "user", "name": "user_proxy", "content": Q},
        {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "content": R, "tool_responses": [{"tool_call_id": ID, "role": "tool", "content": R}]},
        {"role": "assistant", "content": A},
    ],
    "DeepEval, turns": {"turns": [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": A, "tools_called": [{"name": "look", "input_parameters": ARGS, "output": R}]},
    ]},
    "smolagents": {"steps": [
        {"task": Q, "task_images": None},
        {"step_number": 1, "tool_calls": [{"id": ID, "type": "function", "function": {"name": "look", "arguments": ARGS}}], "observations": R, "error": None, "model_output": ""},
        {"step_number": 2, "tool_calls": [], "action_output": A, "is_final_answer": True},
    ]},
    "Cohere, version 2": [
        {"role": "user", "content": Q},
        {"role": "assistant", "tool_plan": "", "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "tool_call_id": ID, "content": [{"type": "document", "document": {"data": R}}]},
        {"role": "assistant", "content": [{"type": "text", "text": A}]},
    ],
    "Haystack": [
        {"role": "user", "content": [{"text": Q}]},
        {"role": "assistant", "content": [{"tool_call": {"tool_name": "look", "arguments": ARGS, "id": ID}}]},
        {"role": "tool", "content": [{"tool_call_result": {"result": R, "origin": {"tool_name": "look", "arguments": ARGS, "id": ID}, "error": False}}]},
        {"role": "assistant", "content": [{"text": A}]},
    ],
    "LlamaIndex": [
        {"role": "user", "blocks": [{"block_type": "text", "text": Q}], "additional_kwargs": {}},
        {"role": "assistant", "blocks": [{"block_type": "tool_call", "tool_call_id": ID, "tool_name": "look", "tool_kwargs": ARGS}]},
        {"role": "tool", "blocks": [{"block_type": "text", "text": R}], "additional_kwargs": {"tool_call_id": ID}},
        {"role": "assistant", "blocks": [{"block_type": "text", "text": A}]},
    ],
    "Google ADK, events": {"events": [
        {"author": "user", "content": {"role": "user", "parts": [{"text": Q}]}},
        {"author": "helper", "content": {"role": "model", "parts": [{"functionCall": {"id": ID, "name": "look", "args": ARGS}}]}, "actions": {"stateDelta": {}}},
        {"author": "helper", "content": {"role": "user", "parts": [{"functionResponse": {"id": ID, "name": "look", "response": R}}]}},
        {"author": "helper", "content": {"role": "model", "parts": [{"text": A}]}},
    ]},
    "Agent Framework": [
        {"role": "user", "contents": [{"type": "text", "text": Q}]},
        {"role": "assistant", "contents": [{"type": "function_call", "call_id": ID, "name": "look", "arguments": TEXT_ARGS}]},
        {"role": "tool", "contents": [{"type": "function_result", "call_id": ID, "result": R}]},
        {"role": "assistant", "contents": [{"type": "text", "text": A}]},
    ],
    "OpenAI, one of two results in another order": [
        {"role": "user", "content": Q},
        {"role": "assistant", "tool_calls": [OPENAI_CALL]}, {"role": "tool", "tool_call_id": ID, "content": R},
        {"role": "assistant", "content": A},
    ],
    "Anthropic": [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": [{"type": "tool_use", "id": ID, "name": "look", "input": ARGS}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": ID, "content": [{"type": "text", "text": R}]}]},
        {"role": "assistant", "content": A},
    ],
    "Vercel, steps of generateText": {"input": Q, "steps": [
        {"stepType": "initial", "text": "", "toolCalls": [{"type": "tool-call", "toolCallId": ID, "toolName": "look", "args": ARGS}],
         "toolResults": [{"type": "tool-result", "toolCallId": ID, "toolName": "look", "args": ARGS, "result": R}], "finishReason": "tool-calls"},
        {"text": A, "toolCalls": [], "toolResults": [], "finishReason": "stop"},
    ]},
    "Vercel, content of steps": {"input": Q, "steps": [
        {"content": [{"type": "tool-call", "toolCallId": ID, "toolName": "look", "input": ARGS},
                     {"type": "tool-result", "toolCallId": ID, "toolName": "look", "input": ARGS, "output": R}], "finishReason": "tool-calls"},
        {"content": [{"type": "text", "text": A}], "finishReason": "stop"},
    ]},
    "ShareGPT": {"conversations": [
        {"from": "human", "value": Q}, {"from": "function_call", "value": json.dumps({"name": "look", "arguments": ARGS})},
        {"from": "observation", "value": R}, {"from": "gpt", "value": A},
    ]},
    "calls in the text of Qwen": [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": f'<tool_call>\n{{"name": "look", "arguments": {TEXT_ARGS}}}\n</tool_call>'},
        {"role": "tool", "content": R}, {"role": "assistant", "content": A},
    ],
    "Semantic Kernel": [
        {"role": "user", "items": [{"content_type": "text", "text": Q}]},
        {"role": "assistant", "items": [{"content_type": "function_call", "id": ID, "name": "look", "arguments": TEXT_ARGS}]},
        {"role": "tool", "items": [{"content_type": "function_result", "id": ID, "name": "look", "result": R}]},
        {"role": "assistant", "items": [{"content_type": "text", "text": A}]},
    ],
    "Semantic Kernel of .NET": [
        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": Q}]},
        {"Role": {"Label": "assistant"}, "Items": [{"$type": "FunctionCallContent", "Id": ID, "FunctionName": "look", "Arguments": ARGS}]},
        {"Role": {"Label": "tool"}, "Items": [{"$type": "FunctionResultContent", "CallId": ID, "Result": R}]},
        {"Role": {"Label": "assistant"}, "Items": [{"$type": "TextContent", "Text": A}]},
    ],
    "LangChain, a batch": [[{"type": "human", "content": Q}, {"type": "ai", "content": "", "tool_calls": [LC_CALL]}, {"type": "tool", "content": R, "tool_call_id": ID}, {"type": "ai", "content": A}]],
}  # fmt: skip

# lists of calls alone, without questions and answers
CALLS: dict[str, Any] = {
    "DeepEval": [{"name": "look", "input_parameters": ARGS, "output": R, "reasoning": "…", "description": "Looks."}],
    "DeepEval, camel case": [{"name": "look", "inputParameters": ARGS, "output": R}],
    "ragas": [{"name": "look", "args": ARGS}],
    "OpenAI": [OPENAI_CALL],
    "Gemini": [{"functionCall": {"name": "look", "args": ARGS}}],
    "Bedrock": [{"toolUse": {"toolUseId": ID, "name": "look", "input": ARGS}}],
    "Vercel": [{"toolCallId": ID, "toolName": "look", "input": ARGS}],
    "Vercel 4": [{"type": "tool-call", "toolCallId": ID, "toolName": "look", "args": ARGS}],
    "Anthropic": [{"type": "tool_use", "id": ID, "name": "look", "input": ARGS}],
    "Responses": [{"type": "function_call", "call_id": ID, "name": "look", "arguments": TEXT_ARGS}],
    "pydantic-ai": [{"part_kind": "tool-call", "tool_name": "look", "args": TEXT_ARGS, "tool_call_id": ID}],
    "LangChain's actions": [{"tool": "look", "tool_input": ARGS, "log": ""}],
    "LangChain's constructors": [lc("AgentAction", tool="look", tool_input=ARGS, log="")],
    "CrewAI": [{"tool_name": "look", "tool_args": ARGS, "output": R}],
    "ReAct": [{"thought": "…", "action": "look", "action_input": ARGS, "observation": R}],
    "Google ADK": [{"tool_name": "look", "tool_input": ARGS}],
    "a run of OpenAI's assistants": [{"type": "tool_calls", "step_details": {"type": "tool_calls", "tool_calls": [OPENAI_CALL]}}],
    "OpenAI's agents": [{"type": "tool_call_item", "raw_item": {"type": "function_call", "call_id": ID, "name": "look", "arguments": TEXT_ARGS}}],
    "OpenAI's custom tools": [{"role": "assistant", "tool_calls": [{"id": ID, "type": "custom", "custom": {"name": "look", "input": ARGS}}]}],
    "Cohere": [{"role": "CHATBOT", "message": "", "tool_calls": [{"name": "look", "parameters": ARGS}]}],
    "tau-bench": [{"name": "look", "kwargs": ARGS}],
    "our own": [{"tool": "look", "arguments": ARGS}],
}  # fmt: skip

# what looks like a call, and is none that is known: what is refused, and where
STRANGE: dict[str, tuple[Any, str]] = {
    "a call under a name nobody knows": (
        [{"role": "user", "content": Q}, {"role": "assistant", "content": "", "my_tool_runs": [{"fn": "look"}]}],
        "message 2 has my_tool_runs",
    ),
    "arguments under a name nobody knows": ([{"tool": "look", "payload": ARGS}], "step 1 calls look with payload"),
    "a part nobody knows": (
        [{"role": "assistant", "content": [{"type": "acme_tool_run", "what": "look"}]}], "message 1 has a part 'acme_tool_run'",
    ),
    "a part of a kind nobody knows": ([{"role": "assistant", "content": [{"type": "acme", "name": "look", "input": ARGS}]}], "message 1 has a part 'acme'"),
    "calls beside the text": ([{"role": "assistant", "content": "I look.", "done": [{"name": "look", "args": ARGS}]}], "message 1 has done"),
    "a call that is a text": (
        [{"role": "assistant", "content": "", "tool_calls": ["look(city='Paris')"]}], "message 1 has tool_calls with str",
    ),
    "a step that says nothing": ([{"tool": "look"}, {"fn": "look", "kw": ARGS}], "step 2 has fn, kw"),
    "a call as Python writes it": (["ToolCall(name='look', args={'city': 'Paris'})"], "step 1 is the text"),
    "a message of lists nobody knows": ([{"role": "assistant", "content": "", "id": "1"}, {"role": "assistant", "chunks": [{"fn": "look"}]}], "message 2 has chunks"),
    "a message later on": (
        [{"role": "user", "content": Q}, {"type": "acme", "fn": {"look": ARGS}}], "message 2 has no role",
    ),
}  # fmt: skip
