"""Nouns by kind with the prepositions they like, adjectives, adverbs, and parts of invented words.

Lists are in falling order of frequency. `man/men` gives an irregular plural, `bread*` has none.
"""

from __future__ import annotations

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun: what it denotes, its plural ("" if it has none)."""

    lemma: str
    kind: str
    plural: str


_NOUNS = {
    "person": """man/men woman/women child/children teacher doctor girl boy student farmer soldier
        nurse lawyer artist baker driver gardener painter singer writer guard guest thief/thieves
        sailor judge officer merchant professor pilot clerk widow hunter priest tailor plumber
        butcher architect chemist poet captain witness""",
    "kin": """friend brother sister mother father neighbour uncle aunt cousin owner servant enemy
        daughter colleague rival pupil""",
    "group": "team army company committee family crew crowd council band gang jury choir",
    "animal": """dog cat horse bird cow mouse/mice sheep/sheep goose/geese wolf/wolves fox goat owl
        donkey rabbit duck hen bear lion crow""",
    "place": """city village garden park forest river island valley street market beach mountain
        field square harbour desert lake coast hill bridge meadow canal swamp""",
    "building": """house school church shop office castle station hotel library barn museum kitchen
        tower cottage theatre factory hospital cellar prison palace mill""",
    "furniture": "table shelf/shelves chair bed bench desk wall roof floor sofa carpet counter",
    "part": "door window gate garden roof balcony chimney stair wheel lock handle lid",
    "tool": """knife/knives hammer telescope rope shovel brush camera needle axe microscope ladder
        pen lantern spoon torch chisel""",
    "container": "box basket bag cup bottle glass bucket drawer sack barrel jar trunk",
    "food": """bread* soup cake apple cheese* fish/fish milk* meat* egg potato/potatoes honey* tea*
        coffee* pie rice* plum wine* onion""",
    "document": """book letter report newspaper story map poem article note contract novel
        photograph list diary review message speech song""",
    "topic": """history* music* art science* love* politics* freedom* trade* peace* education*
        religion* health* poverty* justice* philosophy* law* weather*""",
    "idea": """problem question idea theory reason answer mistake danger secret rule solution
        difference""",
    "plan": "plan decision attempt wish promise chance order permission* right refusal",
    "fact": "fact claim rumour news* belief hope warning",
    "event": """meeting party wedding lecture war trial concert game dinner race election fire storm
        journey ceremony strike funeral festival""",
    "vehicle": "car boat train bus ship bicycle truck wagon plane tram cart",
    "garment": """hat coat dress scarf/scarves beard uniform glove boot mask ring moustache umbrella
        cloak apron""",
    "material": "stone* iron* paper* silver* leather* copper* wool* gold* straw* brick",
    "manner": "care* pleasure* difficulty patience* pride* anger* joy* courage*",
    "period": "week month year day morning evening summer winter night century/centuries",
}


def _plural(lemma: str) -> str:
    if lemma.endswith(("s", "x", "ch", "sh")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def noun(entry: str, kind: str) -> Noun:
    """The noun of an entry: `dog`, `man/men`, `bread*`."""
    if entry.endswith("*"):
        return Noun(entry[:-1], kind, "")
    lemma, _, plural = entry.partition("/")
    return Noun(lemma, kind, plural or _plural(lemma))


NOUNS = {kind: [noun(entry, kind) for entry in text.split()] for kind, text in _NOUNS.items()}


def _listed(text: str) -> list[str]:
    return text.split()


# What may follow a noun of this kind: "preposition:kind", the likelier earlier.
KIND_COMPLEMENTS = {
    "person": "from:place with:garment in:garment from:building with:tool with:animal on:vehicle",
    "kin": "of:person of:person from:place of:kin with:garment",
    "group": "of:person of:animal from:place",
    "animal": "from:place with:garment of:person in:building in:place",
    "place": "near:place of:place behind:building with:building",
    "building": "with:part near:place of:person in:place on:place behind:building",
    "furniture": "in:building of:material with:container near:part",
    "part": "of:building to:building of:vehicle",
    "tool": "with:part from:building for:food of:person",
    "container": "of:food of:food with:part on:furniture of:document",
    "food": "with:food from:place from:container of:person on:furniture",
    "document": "about:topic about:person from:person by:person to:person on:topic of:place",
    "topic": "of:place of:material in:place",
    "idea": "of:topic with:document about:event between:person",
    "plan": "of:group from:person",
    "fact": "about:person about:event",
    "event": "in:place at:building between:group about:topic with:person of:period",
    "vehicle": "from:place with:part to:place of:person",
    "garment": "of:material with:part from:place",
}

# Nouns with a taste of their own.
NOUN_COMPLEMENTS = {
    "owner": "of:building of:vehicle of:animal",
    "door": "to:building of:building to:place",
    "gate": "to:place of:building",
    "bridge": "over:place to:place",
    "picture": "of:person",
    "photograph": "of:person of:animal of:building",
    "map": "of:place of:building",
    "letter": "to:person from:person to:kin",
    "lecture": "on:topic about:topic",
    "war": "with:group against:group in:place",
    "journey": "to:place through:place",
    "answer": "to:document to:idea",
    "solution": "to:idea",
    "reason": "for:event for:idea",
    "difference": "between:person between:topic",
    "trial": "of:person against:person",
    "song": "about:topic for:person",
    "teacher": "of:topic at:building",
    "professor": "of:topic from:place",
    "driver": "of:vehicle",
    "captain": "of:vehicle of:group",
    "guard": "at:building in:garment",
    "witness": "to:event",
    "cup": "of:food",
    "news": "about:event from:place",
    "station": "in:place near:building",
}

ADJECTIVES = _listed("""
        old young big small new good bad strange beautiful poor rich tired happy sad angry
    famous foreign quiet loud dark heavy cheap expensive clever honest lazy brave rude hungry
    dirty clean empty wet dry cold warm narrow broken modern ancient secret serious simple
    nervous proud generous cruel gentle curious fragile
""")
PERSON_ADJECTIVES = _listed("""
        young clever honest lazy brave rude hungry nervous proud generous cruel tired happy sad
    angry curious poor rich famous
""")
COLOURS = _listed("red white black green blue yellow grey brown")
COMPARATIVES = {
    "old": "older", "young": "younger", "big": "bigger", "small": "smaller", "new": "newer",
    "rich": "richer", "loud": "louder", "dark": "darker", "cheap": "cheaper", "good": "better",
    "clever": "cleverer", "brave": "braver", "cold": "colder", "strange": "stranger",
}  # fmt: skip
CLAUSE_ADJECTIVES = _listed("clear strange possible important obvious sad surprising likely")
EASY_ADJECTIVES = _listed("hard easy dangerous difficult pleasant useful")

MANNER_ADVERBS = _listed("""
        quickly slowly quietly carefully suddenly loudly happily sadly secretly badly well
    angrily proudly politely gently
""")
TIME_ADVERBS = _listed("soon then now later again once already recently")
PLACE_ADVERBS = _listed("here there outside upstairs away home abroad")
FREQUENCY_ADVERBS = _listed("often never always sometimes usually rarely still also only")
SENTENCE_ADVERBS = _listed("perhaps however fortunately sadly probably clearly therefore")
DEGREE_ADVERBS = _listed("very too quite rather extremely really")

FIRST_NAMES = {
    "Fem": _listed("Anna Mary Clara Helen Ruth Nora Alice Vera Martha Ida Rosa Edith Agnes Olga"),
    "Masc": _listed("Tom John Peter Paul Henry Martin Oscar George Albert Simon Victor Hugo Felix"),
}
TITLES = _listed("Dr. Mr. Mrs. Professor Captain Judge")
CITIES = _listed("London Paris Rome Vienna Oslo Madrid Cairo Boston Lisbon Dublin")
DAYS = _listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = _listed("January March April June July September October December")
NUMBERS = _listed("two three four five six seven eight nine ten twelve twenty fifty")

ONSETS = _listed("b br c d dr f fl g gr h k kr l m n p pr r s st sk t tr v w z")
VOWELS = _listed("a e i o u a e o ai ea ou")
CODAS = _listed("n r l s m t nd rt lk x v")
SURNAME_ENDINGS = _listed("er son man ley sen ov ini ski")
PLACE_ENDINGS = _listed("ton ville burg field ia mouth stad ham")

# First parts of closed compounds; the last part keeps its kind.
COMPOUND_PARTS = _listed("""
        moon rain stone river fire winter water night sea snow wood corn sun field iron wind bee
    cloud salt
""")
VERB_PREFIXES = _listed("re over out mis pre under")
ADJECTIVE_PREFIXES = _listed("un over semi ultra half")
PERSON_STEMS = _listed("""
        bell clock dream fiddle glove harp kite lamp mirror needle pepper puppet quilt saddle
    thread wax barrel candle
""")
PERSON_ENDINGS = _listed("maker seller keeper monger mender")
