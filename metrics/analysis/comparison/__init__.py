"""Is one model better than another? Paired differences and the cases behind them."""
