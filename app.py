"""The studio's entry: navigation and nothing else."""

from components.data import storage_told
from components.widgets.damaged_run import told
from components.widgets.frame import navigation

with storage_told():
    page = navigation()
    with told():
        page.run()
