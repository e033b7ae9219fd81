"""A model server that signs its thoughts, and refuses what a provider refuses: a tool loop whose thoughts have changed.

It speaks Anthropic's Messages, OpenAI's chat completions and responses, and Gemini's API. A request is read as pieces:
questions, thoughts, calls and results.
"""

import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STEPS = {"Take thirty steps.": 30, "Fetch all of it.": 1}
"""How many calls the server makes after a question. After any other, it makes none."""
THIRTY, ALL = STEPS
DONE = "All is done."
TOOL = "step"
PICTURE_TOKENS = {"messages": 640 * 480 // 750, "input": 85 + 2 * 170, "contents": 258}
"""What a provider's rule says for a picture of 640 by 480, by a field of its requests."""
TEXTS = ("text", "thinking", "content", "output", "arguments", "reasoning_content", "result")


class Refused(Exception):
    """What the server answers with status 400."""


class Provider(ThreadingHTTPServer):
    """A server on a free port."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests = []
        self.steps = 0
        self.expected = []
        """The thoughts, calls and results of the open loop."""
        self.lenient = False
        """Whether the oldest steps of it can be missing."""
        self.thinks = ""
        """What a thought has besides its beginning."""

    def handle_error(self, request, client_address):
        # A client that is done resets its connection.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def answer(self, pieces):
        """The pieces of the next answer: a thought and a call, or a text."""
        for kind, text, signature in (it for it in pieces if it[0] == "thought"):
            if signature != signature_of(text or ""):
                raise Refused(f"invalid signature of a {kind}: {text!r}, {signature!r}")
        asked = max(place for place, it in enumerate(pieces) if it[0] == "question")
        steps = next((count for question, count in STEPS.items() if question in pieces[asked][1]), 0)
        loop = pieces[asked + 1 :]
        expected = self.expected[-max(len(loop), 3) :] if self.lenient else self.expected
        if steps and (loop != expected or len(loop) % 3):
            place = next((n for n, pair in enumerate(zip(loop, expected)) if pair[0] != pair[1]), len(loop))
            came, wanted = loop[place : place + 3], expected[place : place + 3]
            raise Refused(f"piece {place} of {len(loop)} in step {self.steps}: {came} instead of {wanted}")
        if self.steps >= steps:
            return [("text", DONE)]
        self.steps += 1
        thought = f"Thought {self.steps}: there is more to do, so I take another step." + self.thinks
        issued = [("thought", thought, signature_of(thought)), ("call", f"call_{self.steps}")]
        self.expected += [*issued, ("result", f"call_{self.steps}")]
        return issued


def parts_of(value, key=""):
    """The texts of a request, and its pictures as None."""
    if isinstance(value, dict):
        pictures = [None] if any(isinstance(it, str) and "iVBORw0KGgo" in it for it in value.values()) else []
        return pictures + [part for key, it in value.items() for part in parts_of(it, key)]
    if isinstance(value, list):
        return [part for it in value for part in parts_of(it, key)]
    return [value] if isinstance(value, str) and key in TEXTS else []


def signature_of(thought):
    return hashlib.sha256(thought.encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        api = next(api for path, api in APIS.items() if path in self.path)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        try:
            status, answer = 200, api.answer(self.server.answer(list(api.pieces(asked))))
        except Refused as error:
            status, answer = 400, {"error": {"message": str(error), "type": "invalid_request_error", "code": 400}}
        streamed = status == 200 and asked.get("stream")
        body = ("".join(api.stream(answer)) if streamed else json.dumps(answer)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Anthropic:
    @staticmethod
    def pieces(asked):
        for message in asked["messages"]:
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if block["type"] == "thinking":
                    yield "thought", block["thinking"], block.get("signature")
                elif block["type"] == "tool_use":
                    yield "call", block["id"]
                elif block["type"] == "tool_result":
                    yield "result", block["tool_use_id"]
                elif message["role"] == "user":
                    yield "question", block.get("text", "")

    @staticmethod
    def answer(pieces):
        content = []
        for kind, text, *signature in pieces:
            if kind == "thought":
                content.append({"type": "thinking", "thinking": text, "signature": signature[0]})
                content.append({"type": "text", "text": "On I go.", "citations": None})
            elif kind == "call":
                call = {"type": "tool_use", "id": text, "name": TOOL, "input": {"number": 1}}
                content.append({**call, "caller": {"type": "direct"}})
            else:
                content.append({"type": "text", "text": text})
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": "tool_use" if len(pieces) > 1 else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    @staticmethod
    def stream(answer):
        def event(type, **more):
            return f"event: {type}\ndata: {json.dumps({'type': type, **more})}\n\n"

        yield event("message_start", message={**answer, "content": [], "stop_reason": None})
        for index, block in enumerate(answer["content"]):
            deltas = {
                "thinking": [("thinking", "thinking_delta", "thinking"), ("signature", "signature_delta", "signature")],
                "text": [("text", "text_delta", "text")],
                "tool_use": [("input", "input_json_delta", "partial_json")],
            }[block["type"]]
            begun = {**block, **{field: {} if field == "input" else "" for field, _, _ in deltas}}
            yield event("content_block_start", index=index, content_block=begun)
            for field, type, name in deltas:
                value = json.dumps(block[field]) if field == "input" else block[field]
                yield event("content_block_delta", index=index, delta={"type": type, name: value})
            yield event("content_block_stop", index=index)
        reason = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        yield event("message_delta", delta=reason, usage={"output_tokens": 1})
        yield event("message_stop")


class Chat:
    @staticmethod
    def pieces(asked):
        for message in asked["messages"]:
            if message["role"] == "user":
                yield "question", json.dumps(message["content"])
            if message["role"] == "tool":
                yield "result", message["tool_call_id"]
            for call in message.get("tool_calls") or ():
                signature = (call.get("extra_content") or {}).get("google", {}).get("thought_signature")
                yield "thought", message.get("reasoning_content"), signature
                yield "call", call["id"]

    @staticmethod
    def answer(pieces):
        message = {"role": "assistant", "content": None, "refusal": None}
        for kind, text, *signature in pieces:
            if kind == "thought":
                message["reasoning_content"] = text
                extra = {"google": {"thought_signature": signature[0]}}
            elif kind == "call":
                function = {"name": TOOL, "arguments": '{"number": 1}'}
                call = {"id": text, "type": "function", "function": function, "extra_content": extra}
                message["tool_calls"] = [call]
            else:
                message["content"] = text
        choice = {"index": 0, "finish_reason": "tool_calls" if len(pieces) > 1 else "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


class Responses:
    @staticmethod
    def pieces(asked):
        for item in asked["input"]:
            kind = item.get("type", "message")
            if kind == "reasoning":
                yield "thought", "".join(part["text"] for part in item["summary"]), item.get("encrypted_content")
            elif kind == "function_call":
                yield "call", item["call_id"]
            elif kind == "function_call_output":
                yield "result", item["call_id"]
            elif item.get("role") == "user":
                yield "question", json.dumps(item["content"])

    @staticmethod
    def answer(pieces):
        output = []
        for kind, text, *signature in pieces:
            if kind == "thought":
                part = {"type": "summary_text", "text": text}
                item = {"type": "reasoning", "summary": [part], "encrypted_content": signature[0]}
            elif kind == "call":
                item = {"type": "function_call", "call_id": text, "name": TOOL, "arguments": '{"number": 1}'}
            else:
                part = {"type": "output_text", "text": text, "annotations": []}
                item = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
            output.append({"id": f"{kind}_{signature_of(text)[:8]}", **item})
        more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "completed"}
        return {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": output, **more}


class Gemini:
    """Signs calls, not thoughts: so a call has its thought as an argument."""

    @staticmethod
    def pieces(asked):
        for content in asked["contents"]:
            for part in content["parts"]:
                if "functionCall" in part:
                    yield "thought", part["functionCall"]["args"].get("thought"), part.get("thoughtSignature")
                    yield "call", part["functionCall"].get("id")
                elif "functionResponse" in part:
                    yield "result", part["functionResponse"].get("id")
                elif content.get("role") == "user":
                    yield "question", part.get("text", "")

    @staticmethod
    def answer(pieces):
        parts = [{"text": text} for kind, text, *_ in pieces if kind == "text"]
        if len(pieces) > 1:
            (_, thought, signature), (_, id) = pieces
            call = {"id": id, "name": TOOL, "args": {"number": 1, "thought": thought}}
            parts = [{"text": thought, "thought": True}, {"functionCall": call, "thoughtSignature": signature}]
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


APIS = {
    "/messages": Anthropic,
    "/chat/completions": Chat,
    "/responses": Responses,
    ":generateContent": Gemini,
}
