from components.views.results.threshold_table import draw_thresholds
from components.widgets.frame import frame

draw_thresholds(frame("thresholds", "From which value does a metric pass?", unfinished=True))
