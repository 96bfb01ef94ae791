"""The commands on cards, as `companion.app.cli` takes them in."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(name="cards")
@click.argument("deck")
@click.option("--from", "folder", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Holds <name>.jpg, one card alone a picture, or scans.")  # fmt: skip
@click.option("--camera", default="", metavar="SOURCE", help="Or show each card of --names to this camera.")
@click.option("--names", default="", metavar="A,B,C",
              help="What the cards are called; what has no picture is named as missing.")  # fmt: skip
@click.option("--page", is_flag=True, help="Serve a page on which a phone sends the pictures, card by card.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the page.")
@click.option("--port", default=8642, show_default=True, help="Port of the page; 0 for any free one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def enrol_cards(deck: str, folder: Path | None, names: str, as_json: bool, **more: str | int | bool) -> None:
    """Learn a deck by one picture a card. DECK is a name, or a path with a slash: the deck is that folder, to be copied
    as you like. A picture called back.jpg is the backs'. Exit 1 when a picture was of no use, two cards are alike or
    one is missing."""
    from companion.app import cards

    words = tuple(word.strip() for word in names.split(",") if word.strip())
    asked = cards.CardsAsked(
        folder=folder,
        camera=str(more["camera"]),
        names=words,
        has_page=bool(more["page"]),
        host=str(more["host"]),
        port=int(more["port"]),
    )
    sys.exit(cards.enrol_cards(deck, asked, as_json=as_json))


@click.command(name="read-cards")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...")
@click.option("--deck", required=True, metavar="DECK", help="The deck: its name, or its folder.")
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw what was read: a file for one picture, else a folder.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a photograph.")
def read_cards(images: tuple[str, ...], deck: str, picture: Path | None, as_json: bool) -> None:
    """Name the cards of a deck on photographs, one line each. Exit 1 when one could not be read."""
    from companion.app import cards

    sys.exit(cards.read_cards(images, deck, picture, as_json=as_json))
