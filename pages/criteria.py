from components.views.judge import prompt_playground, rubric_editor
from components.widgets import controls
from components.widgets.frame import editors_only, frame

frame("criteria", "How do I have a judge score what I care about?", needs_run=False)
editors_only("choose prompts and rubrics")
if controls.choice("View", {"prompts": "Your own prompts", "rubrics": "Rubrics"}, "view") == "rubrics":
    rubric_editor.draw()
else:
    prompt_playground.draw()
