"""Statuses of commits, which anybody who may write can set, and runs of checks, which only apps make."""

from svc_env import HandlerContext, Row

from ..answers.checks import run_answers, status_answers, suite_answers
from ..answers.repositories import repository_answer
from ..answers.addresses import api_url
from ..checking import combined_state, latest_runs, latest_statuses
from ..finding import find_check_run, find_commit, find_repository, place
from ..history import tell
from ..paging import answer_page, by_id
from ..reading import asked_choice, body_of, choice_of, text_of
from ..refusals import forbidden
from ..viewer import VIEWER, require_write

STATES = ("error", "failure", "pending", "success")
LONGEST_DESCRIPTION = 140
LONGEST_CONTEXT = 255
DEFAULT_CONTEXT = "default"


def list_statuses(ctx: HandlerContext) -> None:
    """All that were ever set on a commit, newest first."""
    find_repository(ctx)
    where = {**place(ctx), "sha": find_commit(ctx, ctx.args["ref"])["sha"]}
    answer_page(
        ctx,
        ctx.query("statuses", where),
        lambda page: status_answers(ctx, page),
        by=by_id,
        downwards=True,
    )


def get_combined_status(ctx: HandlerContext) -> None:
    """The last word of each context, and one for all of them."""
    repository = find_repository(ctx)
    commit = find_commit(ctx, ctx.args["ref"])
    statuses, sha = latest_statuses(ctx, commit, commit["sha"]), commit["sha"]
    answer_page(
        ctx,
        statuses,
        lambda page: status_answers(ctx, page, with_creator=False),
        by=by_id,
        wrap=lambda shown: {
            "state": combined_state(statuses),
            "statuses": shown,
            "sha": sha,
            "total_count": len(statuses),
            "repository": repository_answer(ctx, repository),
            "commit_url": api_url(commit, "commits", sha),
            "url": api_url(commit, "commits", sha, "status"),
        },
    )


def create_status(ctx: HandlerContext) -> None:
    repository, body = find_repository(ctx), body_of(ctx)
    require_write(ctx, repository)
    commit, now = find_commit(ctx, ctx.args["sha"]), ctx.clock.now()
    description = body.get("description")
    status = {
        "id": ctx.ids.next("statuses", "id"),
        **place(ctx),
        "sha": commit["sha"],
        "state": choice_of(ctx, "Status", "state", body.get("state"), STATES),
        "context": text_of(ctx, "Status", "context", body.get("context"), LONGEST_CONTEXT)
        or DEFAULT_CONTEXT,
        "description": text_of(ctx, "Status", "description", description, LONGEST_DESCRIPTION),
        "target_url": text_of(ctx, "Status", "target_url", body.get("target_url")),
        "creator": VIEWER,
        "created_at": now,
        "updated_at": now,
    }
    ctx.insert("statuses", status)
    [answer] = status_answers(ctx, [status])
    fields = ("id", "sha", "context", "description", "state", "target_url", "created_at")
    about = {**{field: status[field] for field in fields}, "updated_at": now}
    tell(ctx, repository, "status", None, **about, name=f"{repository['owner']}/{repository['name']}")
    ctx.respond(201, answer, {"location": answer["url"]})


def list_check_runs(ctx: HandlerContext) -> None:
    """The last run of each check over a commit, or with `filter=all` all of them."""
    repository = find_repository(ctx)
    commit = find_commit(ctx, ctx.args["ref"])
    _answer_runs(ctx, repository, _runs(ctx, commit))


def list_check_runs_of_suite(ctx: HandlerContext) -> None:
    repository = find_repository(ctx)
    digits = ctx.args["check_suite_id"]
    suite = int(digits) if digits.isdecimal() and len(digits) < 16 else 0
    _answer_runs(ctx, repository, ctx.query("check_runs", {**place(ctx), "suite_id": suite}))


def list_check_suites(ctx: HandlerContext) -> None:
    """The runs over a commit are one suite: one app makes them all."""
    repository = find_repository(ctx)
    commit = find_commit(ctx, ctx.args["ref"])
    runs = latest_runs(ctx, commit, commit["sha"])
    suites = suite_answers(ctx, repository, commit, runs)
    answer_page(
        ctx,
        suites,
        list,
        by=by_id,
        wrap=lambda shown: {"total_count": len(suites), "check_suites": shown},
    )


def get_check_run(ctx: HandlerContext) -> Row:
    repository = find_repository(ctx)
    return run_answers(ctx, repository, [find_check_run(ctx)])[0]


def list_annotations(ctx: HandlerContext) -> None:
    """None: the runs of this world say what they have to say in their summary."""
    find_repository(ctx)
    find_check_run(ctx)
    answer_page(ctx, [], list, by=by_id)


def refuse_check_run(ctx: HandlerContext) -> None:
    """Runs are made and changed by apps, and the viewer is a user."""
    find_repository(ctx)
    forbidden(ctx, "You must authenticate via an app to write check runs.")


def _runs(ctx: HandlerContext, commit: Row) -> list[Row]:
    kind = asked_choice(ctx, "CheckRun", "filter", ("latest", "all"), "latest")
    every = {**place(ctx), "sha": commit["sha"]}
    latest = kind == "latest"
    runs = latest_runs(ctx, commit, commit["sha"]) if latest else ctx.query("check_runs", every)
    asked = {"name": ctx.args.get("check_name"), "status": ctx.args.get("status")}
    return [run for run in runs if all(value in (None, "", run[of]) for of, value in asked.items())]


def _answer_runs(ctx: HandlerContext, repository: Row, runs: list[Row]) -> None:
    answer_page(
        ctx,
        runs,
        lambda page: run_answers(ctx, repository, page),
        by=by_id,
        downwards=True,
        wrap=lambda shown: {"total_count": len(runs), "check_runs": shown},
    )
