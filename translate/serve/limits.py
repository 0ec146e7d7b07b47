"""Who may ask, and how often."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request

from translate.config.serve import ServeConfig
from translate.serve.errors import ApiError
from translate.serve.fields import Fields
from translate.serve.keys import ApiKeys

_REMEMBERED = 100_000  # clients; beyond it those that asked least recently are forgotten


class RateLimit:
    """At most so many requests a minute of each client: a bucket that fills again at that rate.

    Args:
        clock: Seconds since any moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and since when

    def take(self, client: str, per_minute: int) -> float:
        """Count a request; return 0, or the seconds until another is allowed."""
        now = self._clock()
        left, since = self._buckets.pop(client, (float(per_minute), now))
        left = min(per_minute, left + (now - since) * per_minute / 60)
        allowed = left >= 1
        self._buckets[client] = left - allowed, now
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) * 60 / per_minute if per_minute else 60.0


class Gate:
    """Lets requests in, or refuses them: API keys and limits of requests.

    Args:
        config: Settings of the server.

    Raises:
        ValueError: If the file of the keys cannot be used.
    """

    def __init__(self, config: ServeConfig) -> None:
        self.config, self.rate = config, RateLimit()
        self.keys = ApiKeys(Path(config.keys_file)) if config.api_keys else None
        if self.keys is not None:
            self.keys.list()  # a file that cannot be used is refused before anybody asks

    def check(self, request: Request, fields: Fields) -> None:
        """Let a request in.

        Raises:
            ApiError: 400 without a key where one is needed, 403 with a wrong one, 429 where they are too many.
        """
        client, limit = request.client.host if request.client else "", self.config.req_limit
        if self.keys is not None:
            key = fields.get("api_key") or fields.get("apiKey")
            if not isinstance(key, str):
                raise ApiError(400, "Please contact the server operator to get an API key")
            known = self.keys.find(key)
            if known is None:
                raise ApiError(403, "Invalid API key")
            client = f"key {known.number}"
            limit = limit if known.req_limit is None else known.req_limit
        if limit < 0:
            return
        if wait := self.rate.take(client, limit):
            seconds = max(1, round(wait + 0.5))
            raise ApiError(429, f"Slowdown: {limit} per 1 minute", {"Retry-After": str(seconds)})
