"""Verbs with the subjects, objects and adjuncts they like.

One line a verb: `lemma [past participle] : subject kinds : object kinds : adjuncts`, adjuncts as
"preposition/kind"; `people` stands for person, kin and group. Lists are in falling
order of frequency.
"""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """A verb and its tastes."""

    lemma: str
    past: str
    participle: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    adjuncts: tuple[tuple[str, str], ...]


_DOUBLING = {"stop", "plan", "rob", "beg", "drop", "nod", "slip", "grab", "chat", "step", "prefer"}


def past_of(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if lemma in _DOUBLING else "") + "ed"


def _spelled_out(line: str) -> str:
    return line.replace("people", "person kin group")


def _verb(line: str) -> Verb:
    names, subjects, objects, adjuncts = (part.split() for part in _spelled_out(line).split(":", 3))
    lemma = names[0]
    regular = past_of(lemma.split(".")[0])  # pick.up: the verb and its particle
    past, participle = names[1:] if len(names) == 3 else (regular, regular)
    pairs = [(adjunct.split("/")[0], adjunct.split("/")[1]) for adjunct in adjuncts]
    return Verb(lemma, past, participle, tuple(subjects), tuple(objects), tuple(pairs))


_VERBS = {
    "intransitive": """
    arrive : person kin vehicle : : in/place at/building from/place on/vehicle after/event
    sleep slept slept : person animal : : in/furniture on/furniture in/building during/event
    laugh : person kin : : at/event with/kin during/event
    fall fell fallen : person document container : : from/furniture into/place on/furniture
    live : person kin animal : : in/place in/building near/place with/kin
    disappear : person animal document : : from/building in/place into/place
    wait : person kin : : at/building outside/building in/vehicle
    sing sang sung : people : : in/building about/topic for/person at/event
    walk : person kin animal : : through/place along/place to/building with/animal in/place
    travel : people : : to/place through/place by/vehicle with/kin across/place
    work : people : : in/building for/person for/group on/document with/tool
    appear : person animal vehicle : : in/place at/event on/place behind/building
    run ran run : person animal : : through/place from/building to/building into/place
    sit sat sat : person animal kin : : on/furniture in/building under/furniture at/event
    swim swam swum : person animal : : in/place across/place to/place
    die : person animal kin : : in/event in/building of/topic during/event
    burn : building vehicle food : : in/event during/event in/place
    cry : person kin : : at/event in/building with/manner
    vanish : animal person vehicle : : into/place behind/building from/place
    race : animal vehicle person : : past/building through/place across/place
    """,
    "transitive": """
    see saw seen : people animal : person animal building vehicle : with/tool from/building in/place
    find found found : people : tool document container : in/container in/building under/furniture
    read read read : person kin : document : in/building to/kin with/manner on/vehicle
    buy bought bought : people : food garment vehicle tool : for/kin from/person at/place in/place
    open : person kin : container part document : with/tool for/person with/manner
    meet met met : people : person kin : in/place at/event at/building on/vehicle
    paint : person : building furniture part person : with/tool in/building for/person
    eat ate eaten : person animal kin : food : with/tool in/building from/container with/kin
    write wrote written : person kin : document : with/tool about/person to/kin in/building
    break broke broken : person animal : part container tool : with/tool during/event
    watch : people : event animal person vehicle : from/building through/part with/tool with/manner
    steal stole stolen : person animal : food vehicle document garment : from/building from/person
    build built built : people : building furniture vehicle : with/tool for/group near/place
    visit : people : place building kin : with/kin during/event before/event
    catch caught caught : person animal : animal person food : with/tool in/place near/place
    lose lost lost : people : garment document event tool : in/place during/event at/building
    clean : person kin : building furniture tool part : with/tool before/event for/kin
    kill : person animal : animal person : with/tool in/event in/place
    sell sold sold : people : vehicle building food animal : to/person at/place in/place
    hide hid hidden : person animal : document food tool garment : under/furniture in/container
    repair : person : vehicle part tool building : with/tool for/kin in/building
    describe : person document : event person idea place : in/document to/person with/manner
    discuss : people : idea topic document plan : with/person at/event in/building
    carry : person animal vehicle : container furniture food : to/building across/place on/vehicle
    attack : group animal person : group building person animal : with/tool at/event from/place
    love : person kin animal : person kin topic food : with/manner
    follow : person animal group : person animal vehicle : into/building through/place to/place
    admire : person kin : person document building garment : for/manner with/manner
    cut cut cut : person : food tool : with/tool in/building for/kin
    examine : person : document container tool person : with/tool in/building before/event
    wash : person kin : garment container vehicle animal : with/food in/place in/container
    study : person kin : topic document animal : with/tool at/building in/place with/person
    organise : people : event : for/person in/place at/building
    chase : animal person : animal person vehicle : through/place across/place into/building
    fill : person : container : with/food for/kin with/tool
    reject : people : plan idea fact : at/event with/manner
    support : people : plan idea event group : with/food
    mention : person kin document : fact event document : in/document to/person
    accuse : person group : person kin : of/fact in/document at/event
    """,
    "placing": """
    put put put : person kin : document food tool : on/furniture in/container under/furniture
    leave left left : person kin : document garment tool : on/furniture in/vehicle at/building
    hang hung hung : person : garment document : on/part on/furniture in/building
    place : person : container food tool : on/furniture beside/furniture in/building
    throw threw thrown : person kin : food tool garment : into/place at/person through/part
    """,
    "ditransitive": """
    give gave given : people : document food animal garment : at/event for/event
    send sent sent : people : document container food : from/place after/event
    show showed shown : person kin : document building garment : at/event in/building
    offer : person group : food document vehicle : at/event in/building
    bring brought brought : person kin : food document tool : from/place in/container
    lend lent lent : person kin : vehicle document tool : for/event
    sell sold sold : person : vehicle animal tool : at/place
    tell told told : person kin : document fact : at/event in/building
    """,
    "clausal": """
    say said said : people document : : in/document at/event
    think thought thought : people : : about/event
    know knew known : people : : from/document
    believe : people : :
    claim : people document : : in/document during/event
    hope : person kin : :
    hear heard heard : person kin : : from/kin on/vehicle
    explain : person document : : to/person in/document
    announce : person group : : at/event in/document
    fear : people : :
    admit admitted admitted : person kin : : to/person during/event
    """,
    "asking": """
    ask : person kin : : at/event in/document
    wonder : person kin : :
    know knew known : person kin : :
    forget forgot forgotten : person : :
    """,
    "control": """
    want : people : :
    try : people animal : :
    decide : people : : after/event at/event
    begin began begun : people animal : : after/event
    plan planned planned : people : :
    refuse : people animal : : at/event
    hope : people : :
    promise : person kin : : at/event
    seem : person animal kin : :
    forget forgot forgotten : person kin : :
    manage : person animal group : :
    """,
    "gerund": """
    stop stopped stopped : people animal : : after/event
    enjoy : people : :
    keep kept kept : people animal : : during/event
    avoid : people : :
    like : person kin animal : :
    """,
    "object control": """
    ask : people : people : at/event
    tell told told : people : person kin animal : in/document
    order : people : person group : at/event
    persuade : person kin : people : with/food
    force : people animal : people :
    teach taught taught : person kin : person animal kin : at/building
    help : people : person kin : with/tool
    """,
    "causative": """
    make made made : person kin : person kin animal :
    let let let : person kin : person kin animal :
    see saw seen : person kin : person animal vehicle : from/building with/tool
    hear heard heard : person kin : person animal kin : from/building
    """,
    "particle": """
    pick.up : person kin : tool document container person : from/furniture with/manner
    turn.off : person kin : tool vehicle : before/event
    throw.away threw thrown : person kin : food document garment : after/event
    take.off took taken : person kin : garment : in/building at/event
    bring.back brought brought : person kin : tool document : from/building
    write.down wrote written : person kin : idea document : in/document with/tool
    pull.down : group person : building part : with/tool
    """,
    "prepositional": """
    look : people : at/person at/document for/tool for/animal : with/tool through/part
    talk : people : about/topic about/event to/person with/person : in/building at/event
    wait : people animal : for/person for/vehicle for/event : at/building in/place
    listen : people : to/document to/person : with/manner in/building
    depend : group event plan : on/person on/topic on/event :
    laugh : person kin : at/person at/idea :
    think thought thought : person kin : about/event about/kin : in/building
    belong : document animal building vehicle : to/person to/kin to/group :
    dream : person kin : of/place about/animal about/event : in/furniture
    apologise : people : for/idea to/person : at/event
    """,
    "linking": """
    become became become : person kin building :  :
    seem : person idea building : :
    remain : person building place : :
    look : person food garment : :
    feel felt felt : person kin food : :
    """,
    "small clause": """
    consider : people : person idea plan document :
    find found found : people : person document food event :
    call : people : person event idea :
    keep kept kept : person kin : building tool animal :
    """,
}  # fmt: skip

VERBS = {
    frame: [_verb(line) for line in text.strip().splitlines()] for frame, text in _VERBS.items()
}
