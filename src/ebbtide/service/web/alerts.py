"""Alerts, beside the requests."""

from __future__ import annotations

from ebbtide.service.web.service import Service


async def send_alerts(here: Service) -> None:
    """Tell people of runs that need them."""
    await here.alerts.run()
