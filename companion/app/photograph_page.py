"""The page that counts photographs, served without a table."""

from __future__ import annotations

import secrets
import sys

import click
import segno

from companion.app.photographs import PhotographDesk
from companion.app.play import wait_for_stop
from companion.app.settings import state_folder
from web_ui.addresses import lan_addresses
from web_ui.alone import address, create_photograph_app
from web_ui.serve import Server


def serve_photographs(host: str, port: int) -> None:
    """Serve the page that counts photographs until it is stopped. Raises ValueError or OSError, one line."""
    key = secrets.token_urlsafe(9)
    server = Server(
        create_photograph_app(PhotographDesk(rounds=state_folder() / "tacta-rounds.json"), key), host, port
    )
    server.start()
    try:
        is_open = server.host in ("0.0.0.0", "::")  # compared, not bound
        names = lan_addresses() if is_open else ()
        shown = [address(f"http://{name}:{server.port}", key) for name in (*names, "127.0.0.1")]
        for line in shown:
            click.echo(f"Photographs  {line}", err=True)
        if is_open:
            segno.make(shown[0], error="m", micro=False).terminal(out=sys.stderr, compact=True)
        else:
            click.echo(
                "Only this machine is served; --host 0.0.0.0 serves the phones in the room too", err=True
            )
        wait_for_stop()
    finally:
        server.stop()
