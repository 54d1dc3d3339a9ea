from components.views.judge import reply_cache
from components.widgets.frame import editors_only, frame

frame("cache", "Which replies of the judge are kept, and what have they saved?", needs_run=False)
editors_only("clear the cache")
reply_cache.draw()
