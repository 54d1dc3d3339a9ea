"""The studio's entry: navigation and nothing else."""

from components.widgets.damaged_run import told
from components.widgets.frame import navigation

page = navigation()
with told():
    page.run()
