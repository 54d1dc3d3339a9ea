from components.data import judge_settings
from components.views.judge import machine_models
from components.widgets.frame import editors_only, frame

frame("local_models", "Which local models are here, and how do I get others?", needs_run=False)
editors_only("choose a judge")
machine_models.draw(judge_settings.own_models())
