"""Which facts supersede which: slots read from the sentences of FactConsolidation's facts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from engram_hydra.metrics.answers import normalize

# Subject and object stand in the braces; the first that fits holds, so the catch-alls are last. The
# relations and their wording, typing errors included, are those of the edits in MQuAKE (Zhong et al.
# 2023, arXiv:2305.14795), which the facts were made from.
RELATIONS = {
    "place_of_birth": "{} was born in the city of {}.",
    "place_of_death": "{} died in the city of {}.",
    "citizenship": "{} is a citizen of {}.",
    "continent": "{} is located in the continent of {}.",
    "capital": "The capital of {} is {}.",
    "head_of_state": "The name of the current head of state in {} is {}.",
    "head_of_government": "The name of the current head of the {} government is {}.",
    "governor": "The Governor of {} is {}.",
    "official_language": "The official language of {} is {}.",
    "spouse": "{} is married to {}.",
    "child": "{}'s child is {}.",
    "religion": "{} is affiliated with the religion of {}.",
    "language": "{} speaks the language of {}.",
    "education": "The univeristy where {} was educated is {}.",
    "field_of_work": "{} works in the field of {}.",
    "place_of_work": "{} worked in the city of {}.",
    "employer": "{} is employed by {}.",
    "notable_work": "{} is famous for {}.",
    "music_genre": "The type of music that {} plays is {}.",
    "sport": "{} is associated with the sport of {}.",
    "position": "{} plays the position of {}.",
    "head_coach": "The head coach of {} is {}.",
    "author": "The author of {} is {}.",
    "creator": "{} was created by {}.",
    "performer": "{} was performed by {}.",
    "developer": "{} was developed by {}.",
    "producer": "The company that produced {} is {}.",
    "broadcaster": "The origianl broadcaster of {} is {}.",
    "original_language": "The original language of {} is {}.",
    "written_language": "{} was written in the language of {}.",
    "country_of_origin": "{} was created in the country of {}.",
    "founder": "{} was founded by {}.",
    "place_of_founding": "{} was founded in the city of {}.",
    "headquarters": "The headquarters of {} is located in the city of {}.",
    "chairperson": "The chairperson of {} is {}.",
    "chief_executive": "The chief executive officer of {} is {}.",
    "director": "The director of {} is {}.",
    "the_is": "The {} is {}.",
    "is": "{} is {}.",
}
_PATTERNS = tuple((name, *sentence.split("{}")) for name, sentence in RELATIONS.items())


class Statement(NamedTuple):
    """What a fact states: its slot (``subject`` and ``relation``) has the value ``object``."""

    subject: str
    relation: str
    object: str


def parse(fact: str) -> Statement | None:
    """What ``fact`` (a sentence without its serial number) states, or None if no pattern fits it.

    The subject ends where the pattern's middle words first occur.
    """
    for relation, before, between, after in _PATTERNS:
        if fact.startswith(before) and fact.endswith(after):
            stated = fact[len(before) : len(fact) - len(after)]
            subject, _, value = stated.partition(between)
            if subject and value:
                return Statement(subject, relation, value)
    return None


class Conflicts:
    """The known conflicts among statements, one per position in the order of writing.

    A slot's newest statement holds. ``slots`` gives the positions of a (subject, relation)'s
    statements, oldest first. ``superseded_by`` lists as (old, new), sorted, each statement that is
    next followed by one of its slot with another object.
    """

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._statements = statements
        self.slots: dict[tuple[str, str], list[int]] = {}
        for position, (subject, relation, _) in enumerate(statements):
            self.slots.setdefault((subject, relation), []).append(position)
        self._newest_by_object: dict[str, list[int]] = {}
        for *_, newest in self.slots.values():
            label = normalize(statements[newest].object)
            self._newest_by_object.setdefault(label, []).append(newest)
        self.superseded_by = tuple(
            sorted(
                (old, new)
                for positions in self.slots.values()
                for old, new in pairwise(positions)
                if statements[old].object != statements[new].object
            )
        )

    def of_question(
        self, question: str, answers: Sequence[str]
    ) -> tuple[int | None, tuple[int, ...]]:
        """The position of the fact a single-hop question asks for, and those of its stale ones.

        The question's slot is one whose subject occurs in the question (case ignored) and whose
        newest object equals an answer after SubEM's normalisation; of several, the one with the
        longest subject, then the latest. Without one: None and no stale facts.
        """
        asked = question.casefold()
        candidates = [
            position
            for label in {normalize(answer) for answer in answers}
            for position in self._newest_by_object.get(label, ())
            if self._statements[position].subject.casefold() in asked
        ]
        if not candidates:
            return None, ()
        current = max(candidates, key=lambda at: (len(self._statements[at].subject), at))
        subject, relation, value = self._statements[current]
        stated = self.slots[subject, relation]
        return current, tuple(at for at in stated if self._statements[at].object != value)
