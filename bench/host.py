"""How much of the time the machine that this one is a guest of has taken for others."""

import pathlib


def processor_time():
    """What the processors have spent working, and of it waiting for the host; None where that is not told."""
    try:
        spent = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    except OSError:
        return None
    return sum(spent) - spent[3] - spent[4], spent[7]


def note_stolen(report, began):
    """Of two programs the one that switches more often suffers more from a busy host, and with it their ratio."""
    ended = processor_time()
    if began and ended and ended[0] > began[0]:
        share = (ended[1] - began[1]) / (ended[0] - began[0])
        if share > 0.01:
            report.note(f"the host took {share:.0%} of the working time for others")
