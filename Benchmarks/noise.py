"""Whether a difference between runs with a tool and runs without it is more than noise."""

from requirement import median


def quartiles(values):
    """The lower and the upper one, by nearest rank."""
    ordered = sorted(values)
    return ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]


def is_noise(with_tool, without):
    """The median of the one lies between the quartiles of the other, as that of equal runs nearly always does."""
    low, high = quartiles(without)
    return low <= median(with_tool) <= high


def spread(values, form):
    """A median with the quartiles around it."""
    low, high = quartiles(values)
    return f"{form(median(values))} ({form(low)} to {form(high)})"
