"""White dots on coloured shapes: where they are, which colour they lie on."""
