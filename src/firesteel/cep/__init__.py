"""Complex event processing: patterns of events in streams, with the names of Flink's CEP library.

>>> from firesteel.datastream import StreamExecutionEnvironment
>>> env = StreamExecutionEnvironment.get_execution_environment()
>>> prices = env.from_collection([120, 90, 40]).key_by(lambda price: "all")
>>> drop = Pattern.begin("high").where(lambda price: price > 100).followed_by("low").where(lambda price: price < 50)
>>> matches = CEP.pattern(prices, drop).in_processing_time().select(lambda match: (match["high"][0], match["low"][0]))
"""

from __future__ import annotations

from firesteel.cep.entry import CEP
from firesteel.cep.looking import partial_matches
from firesteel.cep.pattern import GroupPattern, Pattern
from firesteel.cep.pattern_stream import PatternStream
from firesteel.cep.patterns_stream import DynamicPatternStream, PatternsStream
from firesteel.cep.text_stream import TextPatternStream
from firesteel.control.views.found_matches import PartialMatch
from firesteel.functions.patterns.conditions import (
    IterativeCondition,
    RichAndCondition,
    RichIterativeCondition,
    RichNotCondition,
    RichOrCondition,
    SimpleCondition,
    SubtypeCondition,
)
from firesteel.functions.patterns.definition import (
    ConsumingStrategy,
    Quantifier,
    QuantifierProperty,
    Times,
    WithinType,
)
from firesteel.functions.patterns.processors import PatternProcessor
from firesteel.functions.patterns.results import (
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy

__all__ = [
    "AfterMatchSkipStrategy",
    "CEP",
    "ConsumingStrategy",
    "DynamicPatternStream",
    "GroupPattern",
    "IterativeCondition",
    "PartialMatch",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternProcessor",
    "PatternSelectFunction",
    "PatternStream",
    "PatternTimeoutFunction",
    "PatternsStream",
    "Quantifier",
    "QuantifierProperty",
    "RichAndCondition",
    "RichIterativeCondition",
    "RichNotCondition",
    "RichOrCondition",
    "SimpleCondition",
    "SubtypeCondition",
    "TextPatternStream",
    "TimedOutPartialMatchHandler",
    "Times",
    "WithinType",
    "partial_matches",
]
