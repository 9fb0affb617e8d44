"""The source as a whole: from a server to a reading, and what it remembers between two."""

from __future__ import annotations

import time

import pytest

from exporter.catalogue import BY_NAME
from exporter.reading import Gpu, Reading
from exporter.source import Source, SourceError
from exporter.sources.dcgm import boards, names
from exporter.sources.dcgm.client import DcgmClient
from exporter.sources.dcgm.source import DcgmSource
from tests.exporter.dcgm.cases import page as case
from tests.exporter.dcgm.fake_exporter import FakeExporter, page, raw
from tests.exporter.dcgm.reading import UUID, exposed

UTIL = BY_NAME["DCGM_FI_DEV_GPU_UTIL"]
ENERGY = BY_NAME["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.skipped


class Asked:
    """A source and the server that it asks."""

    def __init__(self, fake: FakeExporter, *, hostname: str = "lab-node-a", hostname_label: str = "Hostname") -> None:
        self.fake = fake
        self.clock = Clock()
        self.source = DcgmSource(fake.url, hostname=hostname, hostname_label=hostname_label, clock=self.clock)

    def reads(self, body: str) -> Reading:
        self.fake.answer = page(body)
        return self.source.collect(self.clock() + 30.0)


def line(gpu: int, value: str = "5", name: str = "DCGM_FI_DEV_GPU_UTIL", **labels: str) -> str:
    more = "".join(f',{key}="{text}"' for key, text in labels.items())
    return f'{name}{{gpu="{gpu}",UUID="{UUID(gpu)}"{more}}} {value}\n'


@pytest.fixture
def asked() -> object:
    with FakeExporter(page("")) as fake:
        yield Asked(fake)


def test_a_cycle_is_over_before_its_deadline(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def fetch(_: DcgmClient, deadline: float) -> str:
        given.append(deadline)
        return line(0)

    monkeypatch.setattr(DcgmClient, "fetch", fetch)
    now = asked.clock()
    assert asked.source.collect(now + 10.0).families
    assert now < given[0] < now + 9.5


def reasons(reading: Reading) -> dict[str, str]:
    return {gpu.uuid: gpu.reason for gpu in reading.gpus}


def test_it_is_a_source(asked: Asked) -> None:
    source: Source = asked.source
    assert source.name == "dcgm"
    assert len(set(source.error_reasons)) == len(source.error_reasons)
    assert len(set(source.drop_reasons)) == len(source.drop_reasons)


def test_08_the_set_of_gpus_changes(asked: Asked) -> None:
    t0 = asked.reads(case("08", "t0"))
    assert (t0.expected, reasons(t0)) == (4, {UUID(n): "" for n in range(4)})

    t1 = asked.reads(case("08", "t1_gpu2_lost"))
    assert t1.expected == 4
    assert sum(gpu.up for gpu in t1.gpus) == 3
    assert reasons(t1) == {UUID(0): "", UUID(1): "", UUID(3): "", UUID(2): "gpu_lost"}
    assert {gpu.uuid: gpu.index for gpu in t1.gpus}[UUID(3)] == "2"
    assert all(UUID(2) not in text for text in exposed(t1.families.items()).splitlines())
    assert {sample.gpu: sample.value for sample in t1.families[UTIL]} == {UUID(0): 98, UUID(1): 97, UUID(3): 98}

    t2 = asked.reads(case("08", "t2_gpu2_back_after_reset"))
    assert (t2.expected, set(reasons(t2).values())) == (4, {""})
    assert {sample.gpu: sample.value for sample in t2.families[ENERGY]}[UUID(2)] == 1_200

    with pytest.raises(SourceError) as caught:
        asked.reads(case("08", "t3_empty"))
    assert caught.value.reason == "empty"
    assert asked.reads(case("08", "t0")).expected == 4


@pytest.mark.parametrize(
    "body",
    [
        "\n\n\n",
        "# HELP a b\n",
        "<html>\n<body>no</body>\n</html>\n",
        "up 1\n",
        'nvidia_gpu_up{gpu="0",UUID="GPU-1"} 1\n',
        "x",
    ],
)
def test_a_page_without_any_reading_of_dcgm_is_a_failure(asked: Asked, body: str) -> None:
    with pytest.raises(SourceError) as caught:
        asked.reads(body)
    assert caught.value.reason == "empty"
    assert asked.fake.url in caught.value.detail


def test_a_gpu_of_blanks_is_there_and_not_up(asked: Asked) -> None:
    reading = asked.reads(line(0) + line(1, "9223372036854775794") + line(1, "N/A", "DCGM_FI_DEV_GPU_TEMP"))
    assert reasons(reading) == {UUID(0): "", UUID(1): "no_values"}
    assert reading.dropped == {"blank": 1, "unparsable": 1}
    alone = asked.reads(line(0, "9223372036854775794"))
    assert alone.families == {}
    assert reasons(alone) == {UUID(0): "no_values", UUID(1): "gpu_lost"}


def test_what_a_broken_off_page_does_not_name_is_not_lost(asked: Asked) -> None:
    asked.reads(line(0) + line(1))
    asked.fake.answer = raw(b"HTTP/1.0 200 OK\r\n\r\n" + (line(0) + line(1, "57")).removesuffix("7\n").encode())
    reading = asked.source.collect(asked.clock() + 30.0)
    assert reasons(reading) == {UUID(0): "", UUID(1): "truncated"}
    assert reading.dropped == {"truncated": 1}


def test_a_board_away_for_a_day_is_forgotten(asked: Asked) -> None:
    asked.reads(line(0) + line(1))
    asked.clock.skipped += boards.FORGET_AFTER_SECONDS - 60.0
    assert asked.reads(line(0)).expected == 2
    asked.clock.skipped += 120.0
    assert asked.reads(line(0)).expected == 1


def test_the_roster_is_bounded() -> None:
    roster = boards.Roster(clock=time.monotonic)
    for start in range(0, 10 * boards.MAX_BOARDS, 100):
        found = boards.Boards([], hostname_label="Hostname").gpus() | {
            str(n): Gpu(uuid=str(n), index="0") for n in range(start, start + 100)
        }
        gpus = roster.update(found)
        assert [gpu.uuid for gpu in gpus[:100]] == list(found)
    assert len(gpus) == boards.MAX_BOARDS
    many = {str(n): Gpu(uuid=str(n), index="0") for n in range(2 * boards.MAX_BOARDS)}
    assert len(roster.update(many)) == boards.MAX_BOARDS


def test_foreign_families_are_bounded_over_all_pages(asked: Asked) -> None:
    for start in range(0, 3 * names.MAX_FAMILIES, 512):
        reading = asked.reads("".join(line(0, "1", f"DCGM_FI_DEV_X{n}") for n in range(start, start + 512)))
    assert not reading.families
    assert reading.dropped == {"limit": 512}
    again = asked.reads(line(0, "1", "DCGM_FI_DEV_X7"))
    assert [family.name for family in again.families] == ["DCGM_FI_DEV_X7"]


def test_a_foreign_family_is_the_same_object_on_every_page(asked: Asked) -> None:
    # Renderers keep the header of a family for good, so that a help text which changes must not make new ones.
    first = asked.reads("# HELP DCGM_FI_DEV_X one\n# TYPE DCGM_FI_DEV_X counter\n" + line(0, "1", "DCGM_FI_DEV_X"))
    second = asked.reads("# HELP DCGM_FI_DEV_X two\n" + line(0, "1", "DCGM_FI_DEV_X"))
    (one,), (two,) = first.families, second.families
    assert one is two
    assert (one.type, one.help) == ("counter", "one")


def test_the_exporters_own_process_stays_out(asked: Asked) -> None:
    body = line(0) + "go_goroutines 9\nprocess_cpu_seconds_total 4\npromhttp_metric_handler_requests_total 3\n"
    reading = asked.reads(body + 'exporter_source_up{source="dcgm"} 1\ntraining_steps_total{run="a"} 1\n')
    assert list(reading.families) == [UTIL]
    assert reading.dropped == {}


def test_rows_of_no_board(asked: Asked) -> None:
    reading = asked.reads(
        line(0)
        + 'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="1",Hostname="a"} 40\n'
        + 'DCGM_FI_DEV_CPU_UTIL_TOTAL{cpu="0",Hostname="a"} 0.5\n'
    )
    assert [gpu.uuid for gpu in reading.gpus] == [UUID(0)]
    others = {family.name: samples[0].gpu for family, samples in reading.families.items() if family is not UTIL}
    assert others == {"DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT": "", "DCGM_FI_DEV_CPU_UTIL_TOTAL": ""}


def test_an_index_stands_in_for_a_uuid(asked: Asked) -> None:
    reading = asked.reads('dcgm_gpu_utilization{gpu="3"} 5\n')
    assert [(gpu.key, gpu.index, gpu.uuid) for gpu in reading.gpus] == [("index 3", "3", "")]
    both = asked.reads('dcgm_gpu_temp{gpu="3"} 40\n' + line(3))
    assert {gpu.key for gpu in both.gpus if gpu.up} == {UUID(3)}
    assert {sample.gpu for samples in both.families.values() for sample in samples} == {UUID(3)}


@pytest.mark.parametrize(
    ("label", "expected"), [("Hostname", "Hostname"), ("hostname", "hostname")]
)  # fmt: skip
def test_a_page_without_a_host_gets_that_of_the_target(label: str, expected: str) -> None:
    with FakeExporter(page("")) as fake:
        (gpu,) = Asked(fake, hostname="me", hostname_label=label).reads(line(0)).gpus
        assert gpu.labels == (("gpu", "0"), ("UUID", UUID(0)), (expected, "me"))
        (named,) = Asked(fake, hostname="me", hostname_label=label).reads(line(0, Hostname="it")).gpus
        assert dict(named.labels)[expected] == "it"


def test_a_page_from_elsewhere_is_of_the_host_in_its_address() -> None:
    source = DcgmSource("http://gpu-host-7:9400", hostname="me")
    assert source._normalise._hostname == "gpu-host-7"


def test_wrong_settings_name_their_key() -> None:
    with pytest.raises(ValueError, match=r"^hostname_label: 'host' is neither"):
        DcgmSource("http://127.0.0.1", hostname="a", hostname_label="host")
    with pytest.raises(ValueError, match=r"^--dcgm-url: "):
        DcgmSource("gpu-host", hostname="a")


def test_the_reading_says_who_is_there(asked: Asked) -> None:
    (gpu,) = asked.reads(case("05")).gpus
    assert gpu.labels == (
        ("gpu", "0"),
        ("UUID", UUID(0)),
        ("pci_bus_id", "00000000:1A:00.0"),
        ("device", "nvidia0"),
        ("modelName", "NVIDIA H100 80GB HBM3"),
        ("Hostname", "lab-node-a"),
        ("DCGM_FI_DRIVER_VERSION", "550.90.07"),
    )
