from components.views.judge import reply_cache
from components.widgets.frame import editors_only, frame

frame("cache", "What does the judge not have to be asked again?", needs_run=False)
editors_only("clear the cache")
reply_cache.draw()
