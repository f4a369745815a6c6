"""Returns against hand-worked numbers and brute force."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlearn.rewards.returns import discounted_returns, grpo_advantages, rloo_advantages

finite = st.floats(-1e6, 1e6, allow_nan=False)


def test_numbers_that_anyone_can_check():
    assert discounted_returns([1, 1, 1], 0.9)[0] == pytest.approx(2.71, abs=1e-12)
    assert discounted_returns([1, 1, 1], 0.5) == [1.75, 1.5, 1.0]
    assert discounted_returns([0.1, -0.2, 0.0, 1.0], 1.0)[0] == pytest.approx(0.9)
    assert discounted_returns([5, 7], 0.0) == [5, 7]
    assert discounted_returns([], 0.9) == []


@given(st.lists(finite, max_size=40), st.floats(0, 1))
def test_returns_against_brute_force(rewards: list[float], gamma: float):
    found = discounted_returns(rewards, gamma)
    for start in range(len(rewards)):
        rest = rewards[start:]
        terms = [gamma**step * reward for step, reward in enumerate(rest)]
        scale = math.fsum(map(abs, terms)) or 1.0
        assert abs(found[start] - math.fsum(terms)) <= 1e-12 * scale + 1e-300


@given(st.lists(finite, min_size=1, max_size=40), st.floats(0, 1))
def test_the_recursion_holds_to_the_last_bit(rewards: list[float], gamma: float):
    found = [*discounted_returns(rewards, gamma), 0.0]
    assert all(found[t] == rewards[t] + gamma * found[t + 1] for t in range(len(rewards)))


def test_grpo():
    # mean 2, standard deviation 1 (ddof 1)
    assert grpo_advantages([1.0, 2.0, 3.0]) == pytest.approx([-1 / 1.0001, 0, 1 / 1.0001])
    assert grpo_advantages([4.0]) == [0.0]
    assert grpo_advantages([4.0, 4.0]) == [0.0, 0.0]
    assert grpo_advantages([]) == []


def test_rloo():
    assert rloo_advantages([1.0, 2.0, 6.0]) == pytest.approx([-3.0, -1.5, 4.5])
    assert rloo_advantages([4.0]) == [0.0]


@given(st.lists(finite, min_size=2, max_size=20))
def test_rloo_against_brute_force(values: list[float]):
    for index, found in enumerate(rloo_advantages(values)):
        others = values[:index] + values[index + 1 :]
        assert found == pytest.approx(values[index] - math.fsum(others) / len(others), abs=1e-6)
