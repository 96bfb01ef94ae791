"""The command line. Each command's options may also stand in a TOML file and in the environment."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from companion.app import cli_boards, cli_cards
from companion.app.settings import SettingsError, read_toml
from companion.runtime.journal import JournalError

USAGE, FAILED = 2, 1


def _from_file(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Values of a TOML file become defaults: the command line and the environment outrank them."""
    if path is None:
        return
    values = read_toml(path)
    if isinstance(values.get("rules"), dict):
        values["rule"] = [f"{name}={_word(value)}" for name, value in values.pop("rules").items()]
    known = {parameter.name for parameter in context.command.params}
    unknown = sorted(set(values) - known)
    if unknown:
        there_are = ", ".join(sorted(name for name in known if name and name != "config"))
        raise SettingsError(f"{path}: there is no setting {unknown[0]!r}; there are: {there_are}")
    context.default_map = {**(context.default_map or {}), **values}


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


HIDDEN = click.option("--hidden", is_flag=True, help="Also while cards in it are hidden from players.")
"""For commands that print what a journal holds."""


@click.group(context_settings={"auto_envvar_prefix": "COMPANION", "help_option_names": ["-h", "--help"]})
@click.version_option(version("tabletop-companion"), prog_name="companion")
def cli() -> None:
    """A referee for games played on a real table: dice, cards, cups and towers."""


config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    callback=_from_file,
    is_eager=True,
    expose_value=False,
    help="A TOML file with any of these options by name; house rules in a table [rules].",
)


@cli.command()
@config
@click.option("--game", default="tada", show_default=True, help="Which game is played.")
@click.option("--seat", multiple=True, metavar="NAME[=DEVICE[:INPUT]|=auto]",
              help="A player, with the pad it slams (none: the referee clicks; auto: as companion pads gave it). "
              "Once for each.")  # fmt: skip
@click.option("--rule", multiple=True, metavar="NAME=VALUE", help="A house rule that is not the default.")
@click.option("--serial", multiple=True, metavar="PORT|auto", help="Pads on serial lines.")
@click.option("--buzzer", multiple=True, metavar="PORT[@SPEED]",
              help="Plain buzzers that send one byte a press (party pads).")  # fmt: skip
@click.option("--mqtt", default="", metavar="URL|auto",
              help="Pads on a broker: mqtt://host[:port][/table], auto (it announces itself) or embedded.")  # fmt: skip
@click.option("--book", type=click.Path(path_type=Path), help="Where names and keys of pads are kept.")
@click.option(
    "--camera", default="", metavar="SOURCE", help="Device, film, folder of pictures, http or rtsp address."
)
@click.option("--profile", default="", metavar="NAME", help="The enrolled dice (companion enrol dice NAME).")
@click.option(
    "--deck", default="", metavar="NAME|FOLDER", help="The enrolled cards (companion enrol cards NAME)."
)
@click.option(
    "--table-mm", default="", metavar="W,H", help="Size of the marked table, measured over the markers."
)
@click.option("--data", type=click.Path(path_type=Path), help="A deck or data file of your own.")
@click.option("--map", "map_", default="", metavar="NAME|FILE",
              help="TAH WARS: the map that lies there, of the house or as companion enrol map kept it.")  # fmt: skip
@click.option(
    "--journal", type=click.Path(path_type=Path), help="The journal; taken up again where it exists."
)
@click.option("--seed", type=int, help="Chance of the shuffles (a fresh one by default).")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to serve; 0.0.0.0 for the whole room."
)
@click.option("--port", default=8642, show_default=True, help="Port to serve; 0 for any free one.")
@click.option("--retention", default=24.0, show_default=True, help="Hours that pictures of slams are kept.")
@click.option("--key", multiple=True, metavar="DEVICE=HEX", help="Key of an MQTT pad.")
@click.option("--strict", is_flag=True, help="Take no MQTT pad without a key.")
@click.option("--new-code", is_flag=True, help="Print a fresh one-time code for a referee.")
def run(**options: Any) -> None:
    """Referee a real table. Every device is optional; with none at all the referee clicks."""
    from companion.app import play

    play.run(options)


@cli.command()
@config
@click.option("--game", default="tada", show_default=True, help="Which game is played.")
@click.option("--speed", default=1.0, show_default=True, help="Shortens the pauses of the simulated people.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same game.")
@click.option("--players", type=int, help="How many play (4 by default).")
@click.option("--cards", is_flag=True, help="Ta-Da!: feats and spells are said by laying their cards.")
@click.option(
    "--mqtt", default="", metavar="URL", help="A broker to use (one inside the program by default)."
)
@click.option("--journal", type=click.Path(path_type=Path), help="Where the journal goes.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve.")
@click.option("--port", default=0, show_default=True, help="Port to serve; 0 for any free one.")
@click.option("--exit-at-end", is_flag=True, help="End when the game is over.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON object (with --exit-at-end)."
)
def demo(**options: Any) -> None:
    """Simulated people play a whole game through the real camera code, the real wire and the real pages."""
    from companion.app.evening import demo as play_demo

    play_demo(options)


@cli.command()
@config
@click.option("--serial", multiple=True, default=("auto",), metavar="PORT|auto", help="Ports to look at.")
@click.option("--buzzer", multiple=True, metavar="PORT[@SPEED]", help="Plain buzzers to look at.")
@click.option("--mqtt", default="", metavar="URL|auto", help="Broker to try.")
@click.option("--pads", "wants_slams", is_flag=True,
              help="Have each pad slammed once, and say which others felt it and need foam.")  # fmt: skip
@click.option("--camera", default="", metavar="SOURCE", help="Camera to try.")
@click.option("--port", default=8642, show_default=True, help="Port that pages would be served on.")
@click.option("--journal", type=click.Path(path_type=Path), help="Folder or journal whose disk is measured.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(**options: Any) -> None:
    """What is connected and heard, and how to mend what is not well. Exit 1 when something is not."""
    from companion.app.doctor import doctor as examine

    if options.pop("wants_slams"):
        from companion.app.doctor import slam_test

        sys.exit(slam_test(options))

    sys.exit(examine(options))


@cli.command()
@config
@click.option("--serial", multiple=True, default=("auto",), metavar="PORT|auto", help="Ports to look at.")
@click.option("--buzzer", multiple=True, metavar="PORT[@SPEED]",
              help="Plain buzzers that send one byte a press.")  # fmt: skip
@click.option("--mqtt", default="", metavar="URL|auto", help="Broker to look at.")
@click.option(
    "--place", type=click.IntRange(1, 32), help="Only this place: the next pad that is pressed gets it."
)
@click.option("--clear", is_flag=True, help="Take the pads of all places away.")
@click.option("--name", multiple=True, metavar="PAD=NAME", help="What a pad is called.")
@click.option("--measured", multiple=True, metavar="PAD=MS",
              help="How late at most a page stamps a touch, as somebody measured it.")  # fmt: skip
@click.option("--pair", multiple=True, metavar="PAD", help="Give a pad on a cable its key for the radio.")
@click.option("--forget", multiple=True, metavar="PAD", help="Forget name, key and place of a pad.")
@click.option("--book", type=click.Path(path_type=Path), help="Where all this is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print what is heard as one JSON object, then end.")
def pads(**options: Any) -> None:
    """List pads live; press one to give it a place at the table."""
    from companion.app import pads as app_pads

    sys.exit(app_pads.pads(options))


@cli.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line; the last holds View and state hash."
)
@HIDDEN
def replay(journal: Path, as_json: bool, hidden: bool) -> None:
    """Fold a journal anew, live or not, and show what it leads to."""
    from companion.app import journals

    journals.replay_(journal, as_json, hidden)


@cli.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option("--head", help="The head that was noted earlier: a cut-off tail is seen.")
def verify(journal: Path, head: str | None) -> None:
    """Check the whole chain of a journal. Exit 1 when it is damaged."""
    from companion.app import journals

    sys.exit(journals.verify_(journal, head))


@cli.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="File to write (standard output by default)."
)
@click.option("--sound", is_flag=True, help="Of a damaged journal write what stands before the damage.")
@HIDDEN
def export(journal: Path, out: Path | None, sound: bool, hidden: bool) -> None:
    """Write a journal as JSON Lines, without loss."""
    from companion.app import journals

    journals.export_(journal, out, sound, hidden)


@cli.command(name="import")
@click.argument("lines", type=click.Path(path_type=Path))
@click.argument("journal", type=click.Path(path_type=Path))
def import_(lines: Path, journal: Path) -> None:
    """Make the journal JOURNAL from exported LINES (- for standard input); the head is the same."""
    from companion.app import journals

    journals.import_(lines, journal)


@cli.group(name="print")
def print_() -> None:
    """Sheets to print."""


@print_.command()
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("markers.pdf"), show_default=True)
def markers(out: Path) -> None:
    """The four corner markers by which the camera finds the table."""
    from companion.app import looking

    looking.print_markers(out)


@print_.command(name="tacta")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("tacta.pdf"), show_default=True)
@click.option(
    "--deck", default="a", show_default=True, metavar="a|b|FILE", help="Which geometry, or a deck file."
)
@click.option("--colour", "colours", multiple=True, help="Only this colour's deck; once for each.")
def print_tacta(out: Path, deck: str, colours: tuple[str, ...]) -> None:
    """A Tacta deck of these geometries in our own drawing: both sides, exact size, cut marks."""
    from companion.app import deck_sheet

    deck_sheet.print_deck(out, deck, colours)


@cli.group()
def data() -> None:
    """Data files of your own: decks, dice, quests, maps."""


@data.command(name="check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--game", default="", metavar="NAME", help="For which game it is, where the file does not say.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def data_check(file: Path, game: str, as_json: bool) -> None:
    """Say in words what a data file lacks, with the lines where it does. Exit 1 when it lacks anything."""
    from companion.app import data_files

    sys.exit(data_files.check_file(file, game, as_json=as_json))


@cli.command(name="read-dice")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--kind", "kinds", multiple=True, default=("pips",), show_default=True,
              help="pips, numerals, or the NAME of enrolled dice; once for each kind on the table.")  # fmt: skip
@click.option("--empty", type=click.Path(path_type=Path), metavar="IMAGE",
              help="The same camera's picture of the table without dice.")  # fmt: skip
@click.option("--profile", default="", metavar="NAME",
              help="The table that was learnt under this name (companion profile table NAME).")  # fmt: skip
@click.option("--dice", multiple=True, metavar="KIND",
              help="A kind of dice with numerals that lies there, as d20: others are not thought of.")  # fmt: skip
@click.option("--zero", type=int, metavar="0|10", help="What a d10's 0 counts: 10 unless enrolled otherwise.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="OUT",
              help="Draw what was read and why: a file for one picture, else a folder.")  # fmt: skip
@click.option("--frames", "fps", type=float, metavar="FPS",
              help="Folders hold the frames of a film, so many a second.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a picture or a roll.")
def read_dice(
    sources: tuple[str, ...], picture: Path | None, fps: float | None, as_json: bool, **wanted: Any
) -> None:
    """Read dice on photographs and in folders of them, one line a picture; in films and before cameras (a number, a
    device, an http or rtsp address), one line a roll. Exit 1 when a source could not be read."""
    from companion.app import reading
    from companion.app.dice_readers import DiceWanted

    output = reading.Output(picture=picture, as_json=as_json, fps=fps)
    sys.exit(reading.read_dice(sources, DiceWanted(**wanted), output))


@cli.command(name="score-tacta")
@click.argument("images", nargs=-1, metavar="[IMAGE...]")
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw each dot that was found: a file for one picture, else a folder.",
)
@click.option("--page", is_flag=True, help="Serve a page to which phones send photographs, and correct them.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address of the page; 0.0.0.0 for the whole room."
)
@click.option("--port", default=8642, show_default=True, help="Port of the page; 0 for any free one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a photograph.")
def score_tacta(images: tuple[str, ...], picture: Path | None, as_json: bool, **page: Any) -> None:
    """Count the visible dots of a finished Tacta table on photographs, a colour each; with several, also the totals.
    Exit 1 when one could not be read."""
    if page["page"]:
        from companion.app import alone

        if images or picture or as_json:
            raise click.UsageError(
                "--page takes its photographs from the browser: leave IMAGE, --picture and --json out"
            )
        alone.serve_photographs(page["host"], page["port"])
        return
    if not images:
        raise click.UsageError("give IMAGE once or more, or --page")
    from companion.app import tables

    sys.exit(tables.score_tacta(images, picture, as_json=as_json))


_deck = click.option("--deck", type=click.Path(path_type=Path), metavar="FILE",
                     help="The deck file of these cards (by default the shipped deck that fits best).")  # fmt: skip
_corners = click.option("--corners", default="", metavar="POINTS",
                        help='The table\'s corners in px, from the top left clockwise: "x,y x,y x,y x,y".')  # fmt: skip
_table_mm = click.option("--table-mm", default="", metavar="W,H", help="The table's width and height.")


@cli.command(name="watch-tacta")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@_deck
@_corners
@_table_mm
@click.option("--allowance-mm", default=2.0, show_default=True, help="How far matched lines may miss.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an event.")
def watch_tacta(sources: tuple[str, ...], as_json: bool, **wanted: Any) -> None:
    """Watch a Tacta table: each card that is laid, bumped or taken away, with the verdict on how it lies. A folder's
    pictures are instants in the order of their names; films and cameras are looked at when all is still. Without
    corners the markers give the scale, or the cards themselves. Exit 1 when something could not be read."""
    from companion.app import card_tables

    sys.exit(card_tables.watch_tacta(sources, card_tables.TableWanted(**wanted), as_json=as_json))


@cli.command(name="read-tacta")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...")
@_deck
@_corners
@_table_mm
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw the cards that were read: a file for one picture, else a folder.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a photograph.")
def read_tacta(images: tuple[str, ...], picture: Path | None, as_json: bool, **wanted: Any) -> None:
    """Read the cards of a Tacta table on photographs, as far as they show: which, which side is up, and where. Exit 1
    when one could not be read."""
    from companion.app import card_tables

    sys.exit(card_tables.read_tacta(images, card_tables.TableWanted(**wanted), picture, as_json=as_json))


@cli.group()
def profile() -> None:
    """Learn a place once, so that what lies there is read better."""


@profile.command(name="table")
@click.argument("name")
@click.option("--empty", type=click.Path(path_type=Path), metavar="IMAGE", required=True,
              help="The camera's picture of the table with nothing on it but its markers.")  # fmt: skip
@click.option("--rolls", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Pictures of rolls from the same place; named 2-4-4.jpg or listed in labels.csv "
                   "(0001.jpg,2 4 4) they teach most; in folders <owner>/ also whose dice these are.")  # fmt: skip
@click.option("--die-mm", default=16.0, show_default=True, help="Edge of the dice.")
@click.option("--marker-mm", default=40.0, show_default=True, help="Edge of a marker's black square.")
@click.option("--table-mm", default="", metavar="W,H", help="Size of the table, measured over the markers.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def profile_table(name: str, as_json: bool, **shown: Any) -> None:
    """Learn a table under its camera: how it looks empty, how large its dice are and what they look like."""
    from companion.app import profiling

    profiling.profile_table(name, profiling.TableShown(**shown), as_json)


@cli.group()
def enrol() -> None:
    """Show your own things to the camera once."""


@enrol.command(name="dice")
@click.argument("name")
@click.option("--from", "folder", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Holds <face>/*.jpg, one die a picture; or <owner>/<face>/*.jpg for several owners.")  # fmt: skip
@click.option("--camera", default="", metavar="SOURCE", help="Or show each face to this camera.")
@click.option("--faces", default="", help="The faces to show: arrow,burst,spiral,wand or all of --die.")
@click.option("--owner", default="", help="Whose dice these are: a seat's name or colour.")
@click.option("--die", default="", metavar="KIND",
              help="These are dice with numerals: d4, d6-numeral, d8, d10, d12, d20 or d100.")  # fmt: skip
@click.option("--zero", type=int, metavar="0|10", help="What their d10's 0 counts: 10 unless said.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def enrol_dice(**options: Any) -> None:
    """Learn the faces of dice from a few pictures each, or live before a camera. A folder with <kind>/<face>/*.jpg,
    as d20/17/1.jpg, is a set of dice with numerals; so is any with --die KIND."""
    from companion.app import numerals

    numerals.enrol_dice(**options)


@enrol.command(name="tacta")
@click.argument("deck")
@click.option("--from", "folder", type=click.Path(path_type=Path), metavar="FOLDER", required=True,
              help="Photographs of one card each, from above; a name as circle-3.jpg says which it is.")  # fmt: skip
@click.option("--card-mm", default="", metavar="W,H", help="Size of a card, as somebody measured it.")
@click.option("--marker-mm", default=40.0, show_default=True,
              help="Edge of a printed marker that lies beside a card: it tells the size.")  # fmt: skip
@click.option(
    "--page", is_flag=True, help="Serve a page on which the cards are looked through and corrected."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the page.")
@click.option("--port", default=8642, show_default=True, help="Port of the page; 0 for any free one.")
@click.option("--json", "as_json", is_flag=True, help="Print the deck file.")
def enrol_tacta(deck: str, folder: Path, card_mm: str, as_json: bool, **more: Any) -> None:
    """Measure your own Tacta deck on photographs of its 18 fronts, and keep it as the deck file DECK (a name or a path
    that ends in .json). All colours have the same fronts: one is enough. Exit 1 when a photograph was of no use."""
    from companion.app import deck_desk
    from companion.app.settings import card_size

    asked = deck_desk.Asked(
        card_mm=card_size(card_mm),
        marker_mm=more["marker_mm"],
        has_page=more["page"],
        host=more["host"],
        port=more["port"],
    )
    sys.exit(deck_desk.enrol_tacta(deck, folder, asked, as_json=as_json))


cli.add_command(cli_boards.read_board)
cli.add_command(cli_cards.read_cards)
enrol.add_command(cli_cards.enrol_cards)
print_.add_command(cli_boards.print_map)
print_.add_command(cli_boards.print_tower_tags)
enrol.add_command(cli_boards.enrol_map)


def main(arguments: list[str] | None = None) -> None:
    """Run one command. Errors are one line on standard error; exit 2 for what was asked wrongly, 1 for what failed."""
    try:
        status = cli.main(args=arguments, prog_name="companion", standalone_mode=False)
    except SettingsError as error:
        _fail(str(error), USAGE)
    except click.UsageError as error:
        _fail(f"{error.format_message()} (see companion --help)", USAGE)
    except click.ClickException as error:
        _fail(error.format_message(), FAILED)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped", 130)
    except (JournalError, ValueError, OSError) as error:
        _fail(str(error), FAILED)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _fail(text: str, status: int) -> None:
    click.echo("companion: " + " ".join(text.split()), err=True)
    sys.exit(status)
