"""The provider's side of the three wires that agentrt speaks: encodes an answer as events.

An answer is a dict: text, reasoning, calls, usage, stop. Usage is counted as OpenAI does: cached
tokens are part of the input.
"""

import json


def pieces(text, size=5):
    return [text[i:i + size] for i in range(0, len(text), size)]


def args_text(call):
    return call["raw"] if "raw" in call else json.dumps(call["args"])


def bearer(headers):
    return headers.get("Authorization", "").removeprefix("Bearer ")


class Chat:
    """OpenAI's Chat Completions API."""

    path = "/v1/chat/completions"
    keys = staticmethod(lambda headers: [bearer(headers)])

    @staticmethod
    def answers_told(body):
        return sum(message["role"] == "assistant" for message in body["messages"])

    @staticmethod
    def events(answer, body):
        def chunk(**more):
            return None, {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                          "model": body["model"], **more}

        def delta(finish=None, **members):
            return chunk(choices=[{"index": 0, "delta": members, "finish_reason": finish}],
                         usage=None)

        yield delta(role="assistant", content="")
        for piece in pieces(answer.get("reasoning", "")):
            yield delta(reasoning_content=piece)
        for piece in pieces(answer.get("text", "")):
            yield delta(content=piece)
        for index, call in enumerate(answer.get("calls", [])):
            yield delta(tool_calls=[{"index": index, "id": f"call_{index}", "type": "function",
                                     "function": {"name": call["name"], "arguments": ""}}])
            for piece in pieces(args_text(call)):
                yield delta(tool_calls=[{"index": index, "function": {"arguments": piece}}])
        stop = {"max_tokens": "length"}.get(answer.get("stop"), "stop")
        yield delta(finish="tool_calls" if answer.get("calls") else stop)
        usage = answer["usage"]
        if body.get("stream_options", {}).get("include_usage"):
            yield chunk(choices=[], usage={
                "prompt_tokens": usage["input"], "completion_tokens": usage["output"],
                "total_tokens": usage["input"] + usage["output"],
                **({"prompt_tokens_details": {"cached_tokens": usage["cached"]}}
                   if "cached" in usage else {})})
        yield None, "[DONE]"

    @staticmethod
    def error(kind, message, code=None):
        return {"error": {"type": kind, "message": message, "code": code, "param": None}}

    error_event = staticmethod(lambda described: (None, described))
    a_piece = staticmethod(lambda text: (None, {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}))


class Responses:
    """OpenAI's Responses API."""

    path = "/v1/responses"
    keys = staticmethod(lambda headers: [bearer(headers)])

    @staticmethod
    def answers_told(body):
        told, within = 0, False
        for item in body["input"] if isinstance(body["input"], list) else []:
            mine = item.get("role") == "assistant" or item.get("type") == "function_call"
            told += mine and not within
            within = mine
        return told

    @classmethod
    def events(cls, answer, body):
        number = iter(range(1_000_000))
        response = {"id": "resp_1", "object": "response", "created_at": 1, "status": "in_progress",
                    "model": body["model"], "output": [], "error": None, "incomplete_details": None,
                    "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

        def event(kind, **more):
            return kind, {"type": kind, "sequence_number": next(number), **more}

        yield event("response.created", response=dict(response))
        items = cls.items(answer)
        for index, item in enumerate(items):
            yield from cls.item_events(event, index, item)
        usage = answer["usage"]
        response["output"] = items
        response["usage"] = {
            "input_tokens": usage["input"], "output_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"],
            **({"input_tokens_details": {"cached_tokens": usage["cached"]}}
               if "cached" in usage else {})}
        if answer.get("stop") == "max_tokens":
            response.update(status="incomplete",
                            incomplete_details={"reason": "max_output_tokens"})
            yield event("response.incomplete", response=response)
        else:
            response.update(status="completed")
            yield event("response.completed", response=response)

    @staticmethod
    def items(answer):
        items = []
        if answer.get("reasoning"):
            items.append({"id": "rs_1", "type": "reasoning",
                          "summary": [{"type": "summary_text", "text": answer["reasoning"]}]})
        if answer.get("text"):
            items.append({"id": "msg_1", "type": "message", "role": "assistant",
                          "status": "completed",
                          "content": [{"type": "output_text", "text": answer["text"],
                                       "annotations": []}]})
        for at, call in enumerate(answer.get("calls", [])):
            items.append({"id": f"fc_{at}", "type": "function_call", "call_id": f"call_{at}",
                          "name": call["name"], "arguments": args_text(call),
                          "status": "completed"})
        return items

    @staticmethod
    def item_events(event, index, item):
        where = {"output_index": index, "item_id": item["id"]}
        empty = dict(item, status="in_progress")
        if item["type"] == "reasoning":
            text = item["summary"][0]["text"]
            part = {**where, "summary_index": 0}
            yield event("response.output_item.added", output_index=index,
                        item=dict(item, summary=[]))
            yield event("response.reasoning_summary_part.added", **part,
                        part={"type": "summary_text", "text": ""})
            for piece in pieces(text):
                yield event("response.reasoning_summary_text.delta", **part, delta=piece)
            yield event("response.reasoning_summary_text.done", **part, text=text)
            yield event("response.reasoning_summary_part.done", **part, part=item["summary"][0])
        elif item["type"] == "message":
            text = item["content"][0]["text"]
            part = {**where, "content_index": 0}
            yield event("response.output_item.added", output_index=index,
                        item=dict(empty, content=[]))
            yield event("response.content_part.added", **part,
                        part={"type": "output_text", "text": "", "annotations": []})
            for piece in pieces(text):
                yield event("response.output_text.delta", **part, delta=piece)
            yield event("response.output_text.done", **part, text=text)
            yield event("response.content_part.done", **part, part=item["content"][0])
        else:
            yield event("response.output_item.added", output_index=index,
                        item=dict(empty, arguments=""))
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **where, delta=piece)
            yield event("response.function_call_arguments.done", **where,
                        arguments=item["arguments"])
        yield event("response.output_item.done", output_index=index, item=item)

    error = Chat.error
    error_event = staticmethod(lambda described: ("error", {
        "type": "error", "code": described["error"]["type"], "param": None, "sequence_number": 1,
        "message": described["error"]["message"]}))
    a_piece = staticmethod(lambda text: ("response.output_text.delta", {
        "type": "response.output_text.delta", "sequence_number": 1, "output_index": 0,
        "item_id": "msg_1", "content_index": 0, "delta": text}))


class Anthropic:
    """Anthropic's Messages API."""

    path = "/v1/messages"
    keys = staticmethod(lambda headers: [headers.get("x-api-key"), bearer(headers)])

    @staticmethod
    def answers_told(body):
        return sum(message["role"] == "assistant" for message in body["messages"])

    @classmethod
    def events(cls, answer, body):
        usage = answer["usage"]
        cached = usage.get("cached", 0)
        counts = {"input_tokens": usage["input"] - cached, "output_tokens": 1,
                  **({"cache_read_input_tokens": cached, "cache_creation_input_tokens": 0}
                     if "cached" in usage else {})}
        yield cls.event("message_start", message={
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
            "content": [], "stop_reason": None, "stop_sequence": None, "usage": counts})
        yield cls.event("ping")
        index = 0
        for block, deltas in cls.blocks(answer):
            yield cls.event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield cls.event("content_block_delta", index=index, delta=delta)
            yield cls.event("content_block_stop", index=index)
            index += 1
        stop = "tool_use" if answer.get("calls") else answer.get("stop", "end_turn")
        yield cls.event("message_delta", delta={"stop_reason": stop, "stop_sequence": None},
                        usage={"output_tokens": usage["output"]})
        yield cls.event("message_stop")

    @staticmethod
    def event(kind, **more):
        return kind, {"type": kind, **more}

    @staticmethod
    def blocks(answer):
        if answer.get("reasoning"):
            deltas = [{"type": "thinking_delta", "thinking": piece}
                      for piece in pieces(answer["reasoning"])]
            yield ({"type": "thinking", "thinking": "", "signature": ""},
                   deltas + [{"type": "signature_delta", "signature": "c2ln"}])
        if answer.get("text"):
            yield ({"type": "text", "text": ""},
                   [{"type": "text_delta", "text": piece} for piece in pieces(answer["text"])])
        for at, call in enumerate(answer.get("calls", [])):
            yield ({"type": "tool_use", "id": f"toolu_{at}", "name": call["name"], "input": {}},
                   [{"type": "input_json_delta", "partial_json": piece}
                    for piece in pieces(args_text(call))])

    @staticmethod
    def error(kind, message, code=None):
        return {"type": "error", "error": {"type": kind, "message": message}}

    error_event = staticmethod(lambda described: ("error", described))
    a_piece = staticmethod(lambda text: ("content_block_delta", {
        "type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": text}}))


WIRES = {"openai_chat": Chat, "openai_responses": Responses, "anthropic": Anthropic}


def frame(event):
    """One event in the format of the stream."""
    kind, data = event
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return ((f"event: {kind}\n" if kind else "") + f"data: {text}\n\n").encode()
