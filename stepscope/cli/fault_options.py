"""The options of `stepscope fault add`."""

from __future__ import annotations

from stepscope.cli.parser import Parser, fault_name, number, one_of, seed, whole

EPILOG = """\
examples:
  stepscope fault add slow straggler --rank 2 --param slowdown=1.8 --duration 60
  stepscope fault add storage io_starvation --intensity moderate --ramp-up 20
  stepscope fault add bad gradient_explosion --dry-run
  stepscope fault add link network_tail_latency --shape flap --period 60 --duty 0.3
  stepscope fault add slow straggler:ranks=2+5,slowdown=1.5
kinds and their parameters: stepscope fault kinds"""

SCHEDULE = {
    "duration": ("duration_seconds", "end by itself after this long, ramp-up included (default: when it is cleared)"),
    "start_after": ("start_after_seconds", "wait this long first"),
    "ramp_up": ("ramp_up_seconds", "take this long to reach the full intensity"),
    "ramp_down": ("ramp_down_seconds", "take this long to go once the fault ends"),
    "period": ("period_seconds", "of shape sine or flap (default: 60)"),
}
"""Option, the field of a fault that it sets, and its help."""
SHAPES = ("linear", "exponential", "step", "sine", "flap")
"""As `faults.spec` has them; repeated, so that parsing words does not import NumPy."""


def add_options(parser: Parser) -> None:
    """What to break, whom it hits, how strongly and when."""
    parser.add_argument("name", type=fault_name, metavar="NAME", help="a name of your choice, to find the fault again")
    parser.add_argument("kind", metavar="KIND", help="its kind, or KIND:KEY=VALUE,… as in stepscope simulate --fault")
    parser.add_argument(
        "--param", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the kind; repeat"
    )
    parser.add_argument("--intensity", metavar="I", help="mild, moderate, severe, or a number above 0 and up to 1")
    whom = parser.add_argument_group("whom it hits (default: the kind's choice)").add_mutually_exclusive_group()
    whom.add_argument("--rank", type=whole(0), action="append", dest="ranks", metavar="N", help="this rank; repeat")
    whom.add_argument("--node", type=whole(0), action="append", dest="nodes", metavar="N", help="this node; repeat")
    whom.add_argument("--count", type=whole(1), metavar="N", help="so many ranks, chosen by the seed")
    whom.add_argument("--percent", type=number, metavar="P", help="this share of the ranks, chosen by the seed")
    whom.add_argument("--one", action="store_true", help="one rank, chosen by the seed")
    whom.add_argument("--all", action="store_true", help="every rank")
    when = parser.add_argument_group("when")
    for option, (_, text) in SCHEDULE.items():
        when.add_argument(f"--{option.replace('_', '-')}", type=number, metavar="SECONDS", help=text)
    when.add_argument("--duty", type=number, metavar="SHARE", help="of its period that shape flap is on (default: 0.5)")
    when.add_argument(
        "--shape", type=one_of(*SHAPES), metavar="SHAPE",
        help=f"{', '.join(SHAPES)}: linear (default) and exponential have ramps, sine and flap a period",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, help="fixes the choices that the fault makes (default: from run and name)")
    parser.add_argument("--note", help="for people")
    parser.add_argument(
        "--dry-run", action="store_true", help="apply nothing; say whom it would hit and what it would do"
    )


CHANGE_EPILOG = """\
examples:
  stepscope fault change slow --intensity mild
  stepscope fault change slow --duration 300
  stepscope fault change slow --pause"""


def add_changes(parser: Parser) -> None:
    """What may be changed of a fault that lives."""
    parser.add_argument("--intensity", metavar="I", help="its new peak: mild, moderate, severe, or a number up to 1")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--duration", type=number, metavar="SECONDS", help="end so long after its start, ramp-up included")
    end.add_argument("--open-ended", action="store_true", help="end only when it is cleared")
    acts = parser.add_mutually_exclusive_group()
    acts.add_argument("--pause", action="store_true", help="let the job be; the clock of its schedule stands still")
    acts.add_argument("--resume", action="store_true", help="go on where it stood")
