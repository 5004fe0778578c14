"""What is left of the budgets that the runs draw on."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from ebbtide.service.web.answers import BudgetsAnswer
from ebbtide.service.web.problems import PlainJson
from ebbtide.service.web.service import Here

router = APIRouter(tags=["what is known"])


@router.get("/v1/budgets", response_model=BudgetsAnswer)
async def budgets(here: Here) -> PlainJson:
    """List the budgets: limit, spent, set aside, left, and what it comes to if it goes on so."""
    budgets = here.runs.budgets
    standings = [] if budgets is None else await asyncio.to_thread(budgets.standings)
    return PlainJson({"budgets": [standing.to_dict() for standing in standings]})
