"""Sphinx's settings for the site that tools/docs builds of what stage.py lays out."""
import os

project = "Inflight"
version = release = os.environ["INFLIGHT_VERSION"]

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
highlight_language = "none"
smartquotes = False

html_theme = "furo"
html_title = f"Inflight {version}"
html_show_sphinx = False
html_show_copyright = html_copy_source = html_show_sourcelink = html_use_index = False
html_static_path = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")]
html_css_files = ["site.css"]
pygments_style = "default"
pygments_dark_style = "github-dark"
