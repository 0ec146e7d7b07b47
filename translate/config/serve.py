"""Settings of the server, and of its replicas on Ray."""

from __future__ import annotations

from dataclasses import dataclass

from translate.common.resources import SHIPPED
from translate.config.fields import check_settings, setting


@dataclass
class ServeConfig:
    """Settings of the server; -1 means that there is no limit."""

    host: str = setting("127.0.0.1", "Address to listen on; 0.0.0.0 takes requests from other machines.")
    port: int = setting(5000, "Port to listen on; 0 takes a free one.", at_least=0, at_most=65535)
    char_limit: int = setting(
        -1, "Most characters of a request, those of all its texts together; -1 = no limit.", at_least=-1
    )
    batch_limit: int = setting(-1, "Most texts of a request; -1 = no limit.", at_least=-1)
    alternatives_limit: int = setting(10, "Most alternatives of a text; -1 = no limit.", at_least=-1)
    req_limit: int = setting(
        -1, "Most requests a minute of each API key, or of each address without one; -1 = no limit.", at_least=-1
    )
    body_limit: int = setting(10_000_000, "Most bytes of a request's body.", at_least=1)
    queue_limit: int = setting(
        200,
        "Sentences that wait to be translated, at which further requests are refused with 503: half a second of work.",
        at_least=1,
    )
    read_timeout: float = setting(
        30.0, "Seconds that a client may take to send the head of a request, and again for its body (408).", above=0
    )
    deadline: float = setting(30.0, "Seconds after which a request that is not done is given up, with 504.", above=0)
    cache: int = setting(10_000, "Translated sentences that are kept for the next time; 0 = none.", at_least=0)
    workers: int | None = setting(
        None, "Threads that translate, a batch each; by default a thread for each core.", at_least=1
    )
    api_keys: bool = setting(False, "Refuse requests without a key that `python -m translate.serve keys add` has made.")
    keys_file: str = setting("keys.db", "SQLite file of the API keys, as hashes.")
    trust_forwarded_for: bool = setting(
        False,
        "Take a client's address from X-Forwarded-For, and http or https from X-Forwarded-Proto, which only a proxy in "
        "front of the server may set.",
    )
    cors: bool = setting(True, "Let web pages of other sites use the server.")
    page: bool = setting(True, "Show a page to translate on, at /.")
    metrics: bool = setting(False, "Answer /metrics, for Prometheus.")
    metrics_token: str = setting("", "Bearer token that /metrics asks for; empty = none.")
    suggestions: str = setting("", "File to which /suggest adds what users propose, as JSON lines; empty = off.")
    log_texts: bool = setting(False, "Write the texts of requests into the log.")

    def __post_init__(self) -> None:
        check_settings("", self)
        if not self.host:
            raise ValueError("host is empty, which would mean every address; give 127.0.0.1, or 0.0.0.0 for all")


@dataclass
class ReplicaConfig:
    """Settings of the replicas."""

    model: str = setting(SHIPPED, "Models, separated by commas, as --model of translate.serve takes them.")
    min_replicas: int = setting(1, "Fewest replicas that run.", at_least=1)
    max_replicas: int = setting(4, "Most replicas that run.", at_least=1)
    target_requests: int = setting(
        16, "Requests in progress at each replica, beyond which another one starts.", at_least=1
    )
    cpus: int = setting(1, "Cores of each, a thread that translates on each of them.", at_least=1)

    def __post_init__(self) -> None:
        check_settings("", self)
        if self.max_replicas < self.min_replicas:
            raise ValueError(f"max_replicas ({self.max_replicas}) must be at least min_replicas ({self.min_replicas})")
