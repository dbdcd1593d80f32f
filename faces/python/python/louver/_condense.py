"""Summaries by a model of the caller's: a job goes out, its text comes back, now or while the conversation goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ._louver import Fit, Job, Window


def condense(window: Window, job: Job, summarize: Callable[[Job], str]) -> Fit:
    """Runs a job and hands its text to the window; a model that raises makes the job fail.

    Windows may be shared between threads: to go on meanwhile, call it in one.
    """
    try:
        summary = summarize(job)
    except Exception as error:
        return window.fail(job, str(error) or type(error).__name__)
    return window.answer(job, summary)


async def acondense(window: Window, job: Job, summarize: Callable[[Job], Awaitable[str]]) -> Fit:
    """The same with a coroutine: ``asyncio.create_task(louver.acondense(window, job, ask))`` runs it in the background."""
    try:
        summary = await summarize(job)
    except Exception as error:
        return window.fail(job, str(error) or type(error).__name__)
    return window.answer(job, summary)
