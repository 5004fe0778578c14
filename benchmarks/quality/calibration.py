"""Whether what is said of calibration holds: by simulation, where the truth is known.

    python -m benchmarks.quality.calibration

No data set of decisions has both a stated confidence and an outcome that somebody saw, so the forecasters are
simulated, with a fixed seed. Three questions. Is the expected calibration error of a perfect forecaster what
is computed, and how often does one pass the mark that about 1 in 20 should? How much better does a score look
where the review reads the confidence? And, where scikit-learn is installed: do its Brier score, log loss and
calibration curve agree?
"""

from __future__ import annotations

import argparse
import random
import statistics
from typing import Any

from benchmarks.measure import setup, wilson, write_result
from ebbtide.decision_log.calibration.scores import Forecast, calibration_error, in_bins, score_forecasts

SEED = 20_261
RUNS = 1_000
STATED = (0.6, 0.7, 0.8, 0.9, 0.95)  # what agents say


def perfect(dice: random.Random, confidences: list[float]) -> list[Forecast]:
    """Forecasts that come true as often as they say."""
    return [Forecast(said, float(dice.random() < said)) for said in confidences]


def errors() -> list[dict[str, Any]]:
    """Computed and simulated calibration error of perfect forecasters."""
    rows = []
    for name in ("any confidence", "five confidences"):
        for n in (20, 50, 100, 300, 1_000):
            dice = random.Random(f"{SEED}-{name}-{n}")
            confidences = [dice.random() if name.startswith("any") else dice.choice(STATED) for _ in range(n)]
            error = calibration_error(in_bins(perfect(dice, confidences)))
            shown = [_error(perfect(dice, confidences)) for _ in range(RUNS)]
            above = sum(value > error.usual_below for value in shown)
            rows.append(
                {
                    "confidences": name,
                    "n": n,
                    "expected": round(error.expected, 4),
                    "simulated": round(statistics.fmean(shown), 4),
                    "usual_below": round(error.usual_below, 4),
                    "above": above,
                    "runs": RUNS,
                    "above_interval": wilson(above, RUNS),
                }
            )
            print(
                f"{name:17} n {n:5}: expected {rows[-1]['expected']:.3f}, simulated "
                f"{rows[-1]['simulated']:.3f}; above the mark {above} of {RUNS} {wilson(above, RUNS)}"
            )
    return rows


def _error(forecasts: list[Forecast]) -> float:
    distances = [abs(sum(row.confidence - row.outcome for row in rows)) for rows in in_bins(forecasts)]
    return sum(distances) / len(forecasts)


def circular() -> dict[str, float]:
    """The Brier score of confidences that say nothing, reviewed with and without a look at them."""
    dice = random.Random(f"{SEED}-circular")
    forecasts = [Forecast(dice.choice([0.3, *STATED]), float(dice.random() < 0.6)) for _ in range(100_000)]
    peeked = [row._replace(outcome=0.0) if row.confidence < 0.4 else row for row in forecasts]
    result = {
        "blind": round(score_forecasts(forecasts).brier.score, 4),
        "reads_the_confidence": round(score_forecasts(peeked).brier.score, 4),
    }
    print(f"a review that marks low confidence as failure: {result}")
    return result


def agreement() -> dict[str, Any] | None:
    """The largest difference from scikit-learn; None where that is not installed."""
    try:
        from sklearn.calibration import calibration_curve
        from sklearn.metrics import brier_score_loss, log_loss
    except ImportError:
        print("scikit-learn is not installed: not compared")
        return None
    dice = random.Random(f"{SEED}-agreement")
    worst = {"brier": 0.0, "log_score": 0.0, "curve": 0.0}
    compared = 0
    for _ in range(300):
        n = dice.randint(10, 300)
        forecasts = perfect(dice, [dice.choice([dice.random(), dice.randint(1, 99) / 100]) for _ in range(n)])
        said, right = [row.confidence for row in forecasts], [int(row.outcome) for row in forecasts]
        if len(set(right)) < 2:
            continue
        compared += 1
        scores = score_forecasts(forecasts)
        brier, rows = scores.brier, scores.bins
        rates, means = calibration_curve(right, said, n_bins=10)
        assert len(rows) == len(rates)
        gaps = [abs(row.rate - rate) for row, rate in zip(rows, rates, strict=True)]
        gaps += [abs(row.mean_confidence - mean) for row, mean in zip(rows, means, strict=True)]
        worst["brier"] = max(worst["brier"], abs(brier.score - brier_score_loss(right, said)))
        worst["log_score"] = max(worst["log_score"], abs((brier.log_score or 0.0) - log_loss(right, said)))
        worst["curve"] = max(worst["curve"], *gaps)
    result = {"compared": compared, "largest_difference": {name: float(gap) for name, gap in worst.items()}}
    print(f"scikit-learn: {result}")
    return result


def main() -> None:
    """Run everything and write the result."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    result = {
        "setup": setup(),
        "seed": SEED,
        "calibration_error": errors(),
        "circular_review": circular(),
        "scikit_learn": agreement(),
    }
    write_result("quality-calibration", result)


if __name__ == "__main__":
    main()
