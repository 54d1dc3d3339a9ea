"""The studio's entry: navigation and nothing else."""

from components.widgets.frame import navigation

navigation().run()
