"""The studio's entry: navigation and nothing else."""

from components.frame import navigation

navigation().run()
