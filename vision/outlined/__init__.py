"""Dark cards with white lines and coloured shapes that lie over each other: found, told apart, measured."""
