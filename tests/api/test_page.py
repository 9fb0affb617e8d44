from __future__ import annotations

import re

import pytest

from stepscope.api.routes.page import WEB
from tests.api.conftest import Bench

ASSETS = sorted(path.name for path in WEB.iterdir() if path.suffix in {".js", ".css", ".svg"})


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_the_pages_load_nothing_from_elsewhere(bench: Bench, path: str) -> None:
    answer = bench.client.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; frame-ancestors 'none'")
    assert "unsafe-eval" not in policy
    for source in re.findall(r'(?:src|href)="([^"#]+)"', answer.text):
        if not source.startswith("http://localhost:"):
            assert bench.client.get(source).status_code == 200, source
    assert not re.search(r"<script(?![^>]*\bsrc=)", answer.text)
    assert not re.search(r"\son\w+=|style=", answer.text)


@pytest.mark.parametrize("name", ASSETS)
def test_the_parts_of_the_page_have_their_types(bench: Bench, name: str) -> None:
    answer = bench.client.get(f"/web/{name}")
    kind = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}[name.rpartition(".")[2]]
    assert answer.headers["content-type"].startswith(kind)
    assert "'unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize("name", [asset for asset in ASSETS if asset.endswith((".js", ".css"))])
def test_the_parts_of_the_page_name_no_other_host(name: str) -> None:
    text = (WEB / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!www\.w3\.org/|\$\{location)", text)


def test_modules_import_only_what_is_there() -> None:
    for name in ASSETS:
        text = (WEB / name).read_text(encoding="utf-8")
        for imported in re.findall(r'from "\./([^"]+)"', text):
            assert imported in ASSETS


def test_the_ids_that_the_scripts_use_are_on_the_page() -> None:
    page = (WEB / "index.html").read_text(encoding="utf-8")
    ids = set(re.findall(r'id="([^"]+)"', page))
    for name in ("app.js", "state.js", "trap.js"):
        used = set(re.findall(r'\$\("([\w-]+)"\)|(?:put|number)\("([\w-]+)"', (WEB / name).read_text(encoding="utf-8")))
        assert {one or other for one, other in used} <= ids
    assert set(re.findall(r'aria-labelledby="([^"]+)"', page)) <= ids


def test_the_scenes_of_the_film_are_calls_that_the_api_takes(bench: Bench) -> None:
    text = (WEB / "film.js").read_text(encoding="utf-8")
    assert len(re.findall(r"call: \[", text)) == 5
    bodies = {
        "film": {"kind": "io_starvation", "params": {"mode": "tail"}, "intensity": 1, "open_ended": True},
        "boom": {"kind": "gradient_explosion", "duration_seconds": 60},
        "slow": {
            "kind": "straggler",
            "target": {"mode": "ranks", "value": [2]},
            "params": {"slowdown": 1.5},
            "open_ended": True,
        },
    }
    for name, body in bodies.items():
        assert f'["PUT", "/v1/faults/{name}"' in text
        assert bench.put_fault(name, body).status_code == 201
    assert bench.client.delete("/v1/faults/film").status_code == 204
    assert bench.client.post("/v1/reset").status_code == 200


def test_the_docs_use_the_installed_package(bench: Bench) -> None:
    script = bench.client.get("/docs/swagger-ui-bundle.js")
    assert script.status_code == 200
    assert len(script.content) > 500_000
    assert bench.client.get("/docs/nothing.js").status_code == 404


@pytest.mark.parametrize("given", ["bytes=0-3", "bytes=-1", "bytes=9999999-", "bytes=x", "lines=1"])
@pytest.mark.parametrize("path", ["/", "/web/app.js", "/docs/swagger-ui.css"])
def test_a_file_comes_as_a_whole(bench: Bench, path: str, given: str) -> None:
    whole = bench.client.get(path)
    found = bench.client.get(path, headers={"Range": given, "If-Range": whole.headers["etag"]})
    assert (found.status_code, found.content) == (200, whole.content)
    assert found.headers["accept-ranges"] == "none"
