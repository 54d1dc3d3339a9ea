"""The studio's entry: navigation and nothing else."""

from components.widgets.frame import navigation
from components.widgets.page_error import guard_page

with guard_page():
    navigation().run()
