"""Does the reward predict the truth? Its AUC against labels, beside plain baselines.

The return is computed without the labels, and without the verdicts that lie in the files. It is
compared with two things that anyone can count: fewer turns, fewer failed calls; overall, and
among sessions of the same task. The labels are needed: --labels FILE.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader
from agentlearn.cli.output import choose_format, number, write_json, write_table
from agentlearn.config import resolve
from agentlearn.errors import BadInput

FORMATS = ("text", "json")
FEW = 5
"""With fewer on either side, an interval from resampling is narrower than the truth."""
NAMES = {"return": "return", "turns": "fewer turns", "errors": "fewer failed calls"}


def main(
    sessions: options.Sessions = None,
    labels: options.Labels = None,
    gamma: options.Gamma = None,
    rewards: options.RewardRules = None,
    min_auc: Annotated[
        float | None,
        typer.Option(
            "--min-auc",
            metavar="X",
            help="Exit with 1 if the AUC of the return is below X.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    from agentlearn.cli.labels import Labels
    from agentlearn.rewards.audit import audit

    chosen = choose_format(format, json, FORMATS)
    settings = resolve(gamma=gamma, rewards=rewards, strict=strict)
    if min_auc is not None and not 0.0 <= min_auc <= 1.0:
        raise BadInput(f"--min-auc must be between 0 and 1, not {min_auc:g}")
    if labels is None:
        raise BadInput("an audit needs the truth: --labels FILE", "a line is: session,success")
    truth = Labels(Path(labels))
    loader = Loader(sessions, latest, settings.strict)
    cases, unlabelled = _cases(loader, truth, settings)
    truth.tell_unused()
    overall = audit(cases)
    if overall is None:
        good = sum(case.success for case in cases)
        raise BadInput(
            f"an audit needs successes and failures: the labels that fit name {good} and "
            f"{len(cases) - good} of the {len(cases) + unlabelled} sessions",
            "labels fit by session id, path or instance id",
        )
    within = audit(cases, within_task=True)
    successes = sum(case.success for case in cases)
    report = {
        "sessions": len(cases),
        "unlabelled": unlabelled,
        "successes": successes,
        "gamma": settings.gamma,
        "overall": _as_dict(overall),
        "within_task": _as_dict(within) if within else None,
        "sentence": _sentence(overall, successes, len(cases) - successes),
    }
    if chosen == "json":
        write_json(report)
    else:
        _print(report)
    low = min_auc is not None and overall["auc"]["return"].value < min_auc
    loader.finish(1 if low else 0)


def _cases(loader: Loader, truth: Any, settings: Any) -> tuple[list[Any], int]:
    from agentlearn.rewards.audit import Case
    from agentlearn.rewards.rules import load_rules
    from agentlearn.rewards.worth import outcome_of, score_session

    rules = load_rules(settings.rewards)
    cases, unlabelled = [], 0
    for session in loader.sessions():
        verdict = truth.verdict(session)
        if verdict is None:
            unlabelled += 1
            continue
        worth = score_session(session, rules, settings.gamma, withhold=True).worth
        scores = {
            "return": worth.return_,
            "turns": -float(len(worth.rewards)),
            "errors": -float(session.counts().errors),
        }
        success = outcome_of(session, verdict, rules) == "success"
        cases.append(Case(success, worth.group, scores))
    return cases, unlabelled


def _as_dict(found: dict[str, Any]) -> dict[str, Any]:
    return {
        part: {
            name: {"value": item.value, "low": item.low, "high": item.high}
            for name, item in intervals.items()
        }
        for part, intervals in found.items()
    }


def _sentence(found: dict[str, Any], successes: int, failures: int) -> str:
    if min(successes, failures) < FEW:
        return f"Too few to say: {FEW} successes and {FEW} failures are the least."
    beaten = [NAMES[name] for name, item in found["ahead_of"].items() if item.low > 0]
    value = found["auc"]["return"].value
    if len(beaten) == len(found["ahead_of"]):
        return f"The reward (AUC {value:.2f}) beats both baselines: it says more than they do."
    if beaten:
        return f"The reward (AUC {value:.2f}) beats {beaten[0]}, but not the other baseline."
    return f"The reward (AUC {value:.2f}) does not beat the baselines: do not use it as a label."


def _print(report: dict[str, Any]) -> None:
    failures = report["sessions"] - report["successes"]
    print(
        f"{report['sessions']} labelled sessions ({report['successes']} successes, {failures} "
        f"failures), {report['unlabelled']} without a label, gamma {report['gamma']:g}"
    )
    print()
    rows = []
    for name, title in NAMES.items():
        row = [title]
        for part in ("overall", "within_task"):
            found = report[part]
            row += [_range(found["auc"][name]) if found else "–"]
            ahead = found["ahead_of"].get(name) if found else None
            row += [_range(ahead, sign=True) if ahead else ""]
        rows.append(row)
    write_table(["score", "AUC", "return ahead by", "within a task", "return ahead by"], rows)
    print()
    print(report["sentence"])


def _range(item: dict[str, float], sign: bool = False) -> str:
    mark = "+" if sign and item["value"] > 0 else ""
    return f"{mark}{number(item['value'])} [{number(item['low'])}, {number(item['high'])}]"
