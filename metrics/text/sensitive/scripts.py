"""Word boundaries: in scripts without spaces between words, a finding may touch other letters."""

import re

# Thai, Lao, Burmese, Khmer, kana, Chinese characters; and Korean, whose particles stick to a name or a number
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
UNSPACED += "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
WORD = rf"[^\W{UNSPACED}]"  # letters, digits and _ of the other scripts, as an expression of one character
LETTER = rf"[^\W_{UNSPACED}]"  # the same without _
