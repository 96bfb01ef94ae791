"""One module a page or a few that belong together; who may see which is in `web_ui.access`."""
