"""A page that is served without a table until it is stopped."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable

import click
import segno
from flask import Flask

from companion.app.photographs import PhotographDesk
from companion.app.settings import state_folder
from companion.app.stopping import wait_for_stop
from web_ui.addresses import lan_addresses
from web_ui.alone import address, create_photograph_app
from web_ui.serve import Server


def serve_photographs(host: str, port: int) -> None:
    """Serve the page that counts photographs. Raises ValueError or OSError, one line."""
    desk = PhotographDesk(rounds=state_folder() / "tacta-rounds.json")
    serve_alone(lambda key: create_photograph_app(desk, key), "Photographs", host, port)


def serve_alone(made: Callable[[str], Flask], what: str, host: str, port: int) -> None:
    """Serve the application that `made` makes of a key, and print where it is. Raises OSError, one line."""
    key = secrets.token_urlsafe(9)
    server = Server(made(key), host, port)
    server.start()
    try:
        is_open = server.host in ("0.0.0.0", "::")  # compared, not bound
        names = lan_addresses() if is_open else ()
        shown = [address(f"http://{name}:{server.port}", key) for name in (*names, "127.0.0.1")]
        for line in shown:
            click.echo(f"{what}  {line}", err=True)
        if is_open:
            segno.make(shown[0], error="m", micro=False).terminal(out=sys.stderr, compact=True)
        else:
            click.echo(
                "Only this machine is served; --host 0.0.0.0 serves the phones in the room too", err=True
            )
        wait_for_stop()
    finally:
        server.stop()
