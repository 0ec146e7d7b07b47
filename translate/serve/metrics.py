"""What Prometheus is told; no label has more values than there are routes and status codes."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from translate.serve.pool import Pool

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics(Collector):
    """Counts requests and looks at the pool.

    Args:
        pool: Returns that of the server.
    """

    def __init__(self, pool: Callable[[], Pool]) -> None:
        self.registry, self._pool = CollectorRegistry(), pool
        self.duration = Histogram(
            "translate_http_request_duration_seconds",
            "Seconds from a request to its answer.",
            ["endpoint", "status"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "translate_http_requests_in_flight", "Requests that are being answered.", registry=self.registry
        )
        self.characters = Counter(
            "translate_characters", "Characters of texts that were asked for.", registry=self.registry
        )
        self.registry.register(self)

    def collect(self) -> list[Metric]:
        """Return what the pool has done and what waits."""
        pool = self._pool()
        waiting = GaugeMetricFamily("translate_sentences_queued", "Sentences that wait.", value=pool.queued)
        sentences = CounterMetricFamily("translate_sentences", "Sentences translated.", value=pool.translated)
        batches = CounterMetricFamily("translate_batches", "Batches translated.", value=pool.batches)
        return [waiting, sentences, batches]

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self.registry)
