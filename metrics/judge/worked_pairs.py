"""Worked pairs of the prompts that several evaluators share: invented material and the right reply to it."""

from metrics.core.prompt import Pair

CLAIMS = (
    Pair(
        {
            "QUESTION": "Where does the Kestrel sail?",
            "TEXT": "She sails from Ardle to Skerra, twice a day in summer. Tickets cost 12 crowns; children may "
            "travel free. Anything else?",
        },
        {
            "claims": [
                "The Kestrel sails from Ardle to Skerra.",
                "The Kestrel sails twice a day in summer.",
                "A ticket for the Kestrel costs 12 crowns.",
                "Children may travel free on the Kestrel.",
            ]
        },
    ),
    Pair({"QUESTION": "Which metal melts at 232 °C?", "TEXT": "Tin."}, {"claims": ["Tin melts at 232 °C."]}),
    Pair({"TEXT": "Sorry, I have nothing on that subject."}, {"claims": []}),
)
ENTAILMENT = (
    Pair(
        {
            "CONTEXTS": [
                "The Kestrel leaves Ardle at eight in the morning and at four in the afternoon.",
                "Skerra has a school with ninety pupils.",
            ],
            "CLAIMS": [
                "The Kestrel leaves Ardle twice a day.",
                "The Kestrel takes cars on board.",
                "The school on Skerra has about two hundred pupils.",
            ],
        },
        {
            "replies": [
                {
                    "id": 1,
                    "reason": "It leaves at eight and at four.",
                    "quote": "at eight in the morning and at four in the afternoon",
                    "supported_by": [1],
                },
                {"id": 2, "reason": "No context mentions cars.", "quote": "", "supported_by": []},
                {"id": 3, "reason": "Context 2 says ninety.", "quote": "", "supported_by": []},
            ]
        },
    ),
)
GRADE = (
    Pair(
        {
            "QUERY": "how long to boil a soft egg",
            "PASSAGE": "For a soft egg: six minutes in boiling water, then straight into cold water.",
        },
        {"intent": "the minutes that a soft egg boils", "match": 3, "trust": 3, "grade": 3},
    ),
    Pair(
        {
            "QUERY": "opening hours of the Ardle lighthouse",
            "PASSAGE": "The Ardle lighthouse was lit in 1821 and has 140 steps. It opens at ten and closes, depending "
            "on the weather, in the afternoon. The café serves soup. Dogs stay outside.",
        },
        {"intent": "when the lighthouse can be visited", "match": 2, "trust": 3, "grade": 2},
    ),
    Pair(
        {
            "QUERY": "may cats eat grapes",
            "PASSAGE": "Cats sleep up to sixteen hours a day and eat several small meals.",
        },
        {"intent": "whether grapes harm cats", "match": 1, "trust": 2, "grade": 1},
    ),
)
