"""Tests of the scoring: `python3 -m unittest` in this folder."""

import unittest

import scoring
from scoring import MILLISECOND, Episode, Pass


def truth(begin, end, cause="compute", due=None, latest=None):
    due, latest = begin if due is None else due, end if latest is None else latest
    return Pass(cause, *(moment * MILLISECOND for moment in (due, begin, end, latest)))


def said(start, duration, least=None, most=None, verified=True, kind="stall", state="ended"):
    least, most = duration if least is None else least, duration if most is None else most
    proof = "did-not-move" if verified else "none"
    scale = MILLISECOND
    return Episode(kind, state, verified, proof, start * scale, duration * scale, least * scale, most * scale)


def judged(passes, episodes, threshold=100, since=0):
    return scoring.score(passes, episodes, threshold * MILLISECOND, since * MILLISECOND)


class Recall(unittest.TestCase):
    def test_a_verified_record_that_overlaps_finds_a_stall(self):
        self.assertEqual(judged([truth(1000, 1200)], [said(1010, 190)]).count("found"), 1)

    def test_what_a_record_only_allows_for_is_not_found_but_not_missed_either(self):
        self.assertEqual(judged([truth(1000, 1200)], [said(1210, 100, most=250)]).count("unverified"), 1)

    def test_without_a_record_a_stall_is_missed(self):
        self.assertEqual(judged([truth(1000, 1200)], [said(1200, 190)]).count("missed"), 1)

    def test_what_is_not_verified_does_not_find(self):
        for kind in ("stall", "unverified"):
            result = judged([truth(1000, 1200)], [said(1000, 200, verified=False, kind=kind)])
            self.assertEqual((result.count("found"), result.count("unverified")), (0, 1))

    def test_a_stall_below_threshold_and_largest_gap_need_not_be_found(self):
        self.assertEqual(judged([truth(1000, 1189)], []).finds, [])
        self.assertEqual(judged([truth(1000, 1190)], []).count("missed"), 1)

    def test_the_largest_gap_is_500_ms_at_most(self):
        self.assertEqual(judged([truth(1000, 2500)], [], threshold=1000).count("missed"), 1)

    def test_what_was_before_the_watch_knew_the_loop_does_not_count(self):
        self.assertEqual(judged([truth(1000, 1300)], [], since=1001).finds, [])


class FalseStalls(unittest.TestCase):
    def test_a_record_is_false_if_it_was_shorter_than_the_least_that_it_says(self):
        self.assertEqual(len(judged([truth(1000, 1150)], [said(1000, 160, least=151)]).false), 1)
        self.assertEqual(judged([truth(1000, 1150)], [said(1000, 160, least=150)]).false, [])

    def test_a_record_is_false_far_below_the_threshold(self):
        self.assertEqual(len(judged([truth(1000, 1009)], [said(1000, 9, least=5)]).false), 1)
        self.assertEqual(judged([truth(1000, 1010)], [said(1000, 10, least=5)]).false, [])

    def test_what_the_target_waits_for_after_its_last_pass_is_its_log(self):
        log = said(1180, 420, least=390, state="interrupted")
        self.assertEqual(judged([truth(1000, 1200)], [log]).false, [])
        early = said(1100, 420, least=410, state="interrupted")
        self.assertEqual(len(judged([truth(1000, 1200)], [early]).false), 1)
        self.assertEqual(len(judged([truth(1000, 1200)], [said(1180, 420, least=390)]).false), 1)

    def test_a_record_without_any_pass_is_false(self):
        self.assertEqual(len(judged([truth(1000, 1200)], [said(1300, 200)]).false), 1)

    def test_a_record_is_held_against_the_pass_with_most_in_common(self):
        passes = [truth(1000, 1100), truth(1101, 1401), truth(1402, 1410)]
        self.assertEqual(judged(passes, [said(1095, 310, least=295)]).false, [])
        self.assertEqual(len(judged(passes, [said(1095, 310, least=305)]).false), 1)

    def test_a_pass_may_have_begun_before_it_could_read_the_clock(self):
        passes = [truth(1000, 1040), truth(1201, 1205, due=1046)]
        self.assertEqual(judged(passes, [said(1000, 200, least=155)]).false, [])
        self.assertEqual(len(judged(passes, [said(1000, 200, least=200)]).false), 1)

    def test_many_short_passes_are_no_stall(self):
        passes = [truth(1000 + 10 * index, 1009 + 10 * index) for index in range(50)]
        self.assertEqual(len(judged(passes, [said(1000, 500)]).false), 1)
        self.assertEqual(judged(passes, [said(1000, 500, verified=False)]).false, [])

    def test_stopped_time_is_not_part_of_a_pass(self):
        passes = scoring.without_pauses(
            [truth(1000, 3010), truth(3020, 3040)], [(1005 * MILLISECOND, 3005 * MILLISECOND)]
        )
        self.assertEqual([one.shortest for one in passes], [10 * MILLISECOND, 20 * MILLISECOND])
        self.assertEqual(len(judged(passes, [said(1000, 2010)]).false), 1)

    def test_nor_is_stopped_time_between_due_and_woken(self):
        passes = scoring.without_pauses([truth(3000, 3010, due=1990)], [(2000 * MILLISECOND, 2995 * MILLISECOND)])
        self.assertEqual(passes[0].longest, 25 * MILLISECOND)

    def test_a_woken_thread_without_a_cpu_works(self):
        self.assertEqual(judged([truth(1100, 1200, due=1000)], [said(1000, 200)]).false, [])


class Durations(unittest.TestCase):
    def test_errors_and_bounds(self):
        result = judged([truth(1000, 1200), truth(2000, 2300)], [said(1000, 203, 195, 210), said(2000, 290, 280, 295)])
        self.assertEqual(result.errors, [3 * MILLISECOND, 10 * MILLISECOND])
        self.assertEqual((result.bounded, len(result.out_of_bounds)), (2, 1))

    def test_an_interrupted_record_has_no_duration_to_compare(self):
        self.assertEqual(judged([truth(1000, 1200)], [said(1000, 150, state="interrupted")]).errors, [])

    def test_the_start_lies_between_due_and_woken(self):
        self.assertEqual(judged([truth(1010, 1200, due=1000)], [said(1000, 195)]).errors, [0])

    def test_the_end_lies_between_the_clock_and_the_wait(self):
        self.assertEqual(judged([truth(1000, 1200, latest=1210)], [said(1000, 207)]).errors, [0])

    def test_percentiles_by_nearest_rank(self):
        self.assertEqual(scoring.percentile(range(1, 101), 99), 99)
        self.assertEqual(scoring.percentile([5], 99), 5)


class Saturation(unittest.TestCase):
    def passes(self):
        short = [truth(10 * index, 10 * index + 9) for index in range(50)]
        return [*short, truth(500, 800), *[truth(800 + 10 * index, 809 + 10 * index) for index in range(50)]]

    def right(self, episodes):
        passes = self.passes()
        return scoring.saturation(judged(passes, episodes), passes, 100 * MILLISECOND, 0)

    def test_a_long_callback_found_and_nothing_else(self):
        self.assertEqual(self.right([said(500, 300)]), (3, 3))

    def test_saturation_reported_as_a_stall(self):
        self.assertEqual(self.right([said(0, 400), said(500, 300)]), (2, 3))

    def test_a_long_callback_not_found(self):
        self.assertEqual(self.right([]), (2, 3))


class Reading(unittest.TestCase):
    def test_a_pass_is_not_due_before_the_last_wait(self):
        passes = scoring.read_passes(["sleep 90 100 101 190 200 0", "lock 150 210 211 290 300 0", "- 0 310 0 0 320 0"])
        self.assertEqual([one.due for one in passes], [90, 200, 310])

    def test_a_pass_without_a_cpu_ends_late_but_not_after_the_next_is_due(self):
        lines = ["sleep 90 100 101 190 200 20", "lock 230 240 241 290 300 40", "lock 320 330 331 340 350 0"]
        passes = scoring.read_passes(lines)
        self.assertEqual([one.latest for one in passes], [220, 320, 350 + scoring.LONGEST_UNKNOWN_DELAY])

    def test_a_pass_without_a_cpu_that_does_not_wait_ends_by_the_next_reading_of_the_clock(self):
        lines = ["child 90 100 101 290 300 40", "lock 295 330 331 340 350 0"]
        self.assertEqual(scoring.read_passes(lines)[0].latest, 330)

    def test_a_pass_ends_between_its_job_and_the_wait(self):
        one = scoring.read_passes(["sleep 90 100 101 190 200 0", "- 0 310 0 0 320 0"])[0]
        self.assertEqual((one.shortest, one.longest), (90, 110))

    def test_the_last_record_of_an_episode_counts(self):
        record = {
            "type": "stall", "id": 1, "state": "ongoing", "verified": True, "proof": "did-not-move",
            "time": "2026-03-01T14:03:08.000000Z", "started_at": "2026-03-01T14:03:07.500000Z",
            "monotonic_us": 9_000_000, "duration_ms": 500.0, "duration_min_ms": 499.5, "duration_max_ms": None,
        }  # fmt: skip
        ended = record | {"state": "ended", "time": "2026-03-01T14:03:09.000000Z", "monotonic_us": 10_000_000}
        episodes = scoring.read_episodes([record, ended, {"type": "notice"}])
        self.assertEqual([(one.state, one.start, one.most) for one in episodes], [("ended", 8_500_000_000, None)])


if __name__ == "__main__":
    unittest.main()
