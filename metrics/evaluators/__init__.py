"""One file per evaluator, in folders by what they evaluate; metrics.core.registry finds them."""
