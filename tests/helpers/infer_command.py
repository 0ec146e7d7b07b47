"""The command `translate.infer`, called in the process of a test."""

from __future__ import annotations

import io
import sys

import pytest

from translate.infer.__main__ import main


class InferCommand:
    """Calls `main` with bytes on stdin and returns the bytes of stdout."""

    def __init__(self, model: str, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]) -> None:
        self.model, self.monkeypatch, self.capture, self.err = model, monkeypatch, capture, b""

    def __call__(self, *arguments: str, stdin: bytes = b"") -> bytes:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))  # type: ignore[arg-type]
        try:
            assert main(["--model", self.model, "--device", "cpu", *arguments]) == 0
        finally:
            out, self.err = self.capture.readouterr()
            self.out = out
        return out
