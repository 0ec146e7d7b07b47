"""Clients of a server in this process, with the general model."""

from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from translate.common.resources import SHIPPED
from translate.config.serve import ServeConfig
from translate.serve.app import make_app
from translate.serve.models import Models
from translate.serve.pool import Pool


@pytest.fixture
def anyio_backend() -> str:
    """Tests that are coroutines run on asyncio."""
    return "asyncio"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of a server with default settings."""
    with _serving(ServeConfig()) as client:
        yield client


@pytest.fixture
def serving() -> Callable[[ServeConfig], TestClient]:
    """Returns a client of a server with other settings."""
    return _serving


def _serving(config: ServeConfig) -> TestClient:
    app = make_app(lambda: Models([SHIPPED], config), config)
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def _untranslated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every sentence wait for ever."""
    monkeypatch.setattr(Pool, "_take", lambda _: [])
