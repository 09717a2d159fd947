# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over a pipe by its DevTools protocol: opens a page, runs scripts in it, presses
keys, takes pictures, and keeps what the page says on the console or asks for."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

SECONDS = 120  # what no answer takes, on a busy machine either
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
          "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--mute-audio",
          "--remote-debugging-pipe")  # fmt: skip


def _on_core(schedstat: Path) -> int:
    try:
        return int(schedstat.read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0  # the thread has ended


class Browser:
    """One page. Skips the test where there is no Chromium."""

    def __init__(self, folder: Path, width: int = 1400, height: int = 1000) -> None:
        program = shutil.which("chromium")
        if program is None:
            pytest.skip("no chromium here: apt-get install chromium")
        self._start(program, folder, width, height)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def _start(self, program: str, folder: Path, width: int, height: int) -> None:
        # It reads commands from descriptor 3 and writes answers to 4.
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        high = [fcntl.fcntl(one, fcntl.F_DUPFD, 20) for one in (commands, answers)]

        def connect() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)  # fmt: skip
        for one in (commands, answers, *high):
            os.close(one)
        self._session = ""
        self._number = 0
        self._rest = b""
        self.said: list[str] = []  # on the console, or as an exception
        self.asked: list[str] = []  # addresses that the page has asked for

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        self._process.wait(SECONDS)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command; its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._read, 1 << 20)
            assert piece, "chromium has ended"
            self._rest += piece
        first, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(first)
        self._keep(message.get("method", ""), message.get("params", {}))
        return message

    def _keep(self, method: str, about: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value", one.get("description"))) for one in about["args"]))
        elif method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.said.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(about["request"]["url"])

    def open(self, page: Path, scheme: str = "light") -> None:
        """Until its script is ready."""
        self.scheme(scheme)
        self.send("Page.navigate", url=page.as_uri())
        end = time.monotonic() + SECONDS
        ready = "document.readyState === 'complete' && typeof marlinePage === 'object' && marlinePage.ready"
        while not self.run(ready):
            assert time.monotonic() < end and not self.said, f"{page}: {self.said}"
            time.sleep(0.02)

    def scheme(self, name: str) -> None:
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def key(self, name: str, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, **({"text": text} if text else {}))

    def cpu_seconds(self) -> float:
        """Of all threads of the browser's processes that live."""
        of_parent: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
            of_parent.setdefault(parent, []).append(int(stat.parent.name))
        mine, found = [self._process.pid], 0
        while mine:
            one = mine.pop()
            mine += of_parent.get(one, [])
            found += sum(_on_core(thread) for thread in Path(f"/proc/{one}/task").glob("*/schedstat"))
        return found / 1e9

    def picture(self, file: Path, whole: bool = False) -> None:
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        file.write_bytes(base64.b64decode(data))
