"""Spellings of units: symbols, words in English, German, French and Spanish, and their names in pint."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def spellings(table: str) -> Mapping[str, str]:
    """Return spelling -> meaning from lines `meaning: spelling spelling …`.

    >>> dict(spellings("L: l ltr"))
    {'l': 'L', 'ltr': 'L'}
    """
    rows = (line.partition(": ") for line in table.strip().splitlines())
    return MappingProxyType(
        {spelling: meaning.strip() for meaning, _, row in rows for spelling in row.split()}
    )


PREFIXES = MappingProxyType(
    {"n": "n", "u": "u", "m": "m", "c": "c", "d": "d", "h": "h", "k": "k", "M": "M", "G": "G", "T": "T"}
)
"""SI prefixes as symbols."""

PREFIX_WORDS = MappingProxyType(
    {
        "nano": "n", "micro": "u", "mikro": "u", "milli": "m", "mili": "m", "centi": "c", "zenti": "c",
        "deci": "d", "dezi": "d", "hecto": "h", "hekto": "h", "kilo": "k", "mega": "M", "méga": "M",
        "giga": "G",
    }
)  # fmt: skip
"""SI prefixes as words."""

PREFIXED = MappingProxyType(
    {
        "g": "gram", "m": "meter", "s": "second", "A": "ampere", "mol": "mole", "Hz": "hertz", "N": "newton",
        "Pa": "pascal", "J": "joule", "W": "watt", "V": "volt", "Ohm": "ohm", "L": "liter", "bar": "bar",
        "eV": "electron_volt", "Wh": "watt_hour", "VA": "[apparent_power]", "cal": "calorie", "B": "[byte]",
        "Sv": "sievert", "Gy": "gray", "Bq": "becquerel", "lm": "lumen", "lx": "lux", "S": "siemens",
        "eq": "[equivalent]", "IU": "[international_unit]", "NL": "[normal_volume]", "Ah": "ampere_hour",
        "K": "kelvin", "barg": "[gauge_pressure]",
    }
)  # fmt: skip
"""Units that take SI prefixes: canonical symbol -> pint name, or a dimension of its own in brackets."""

ATOMS = MappingProxyType(
    {
        "min": "minute", "h": "hour", "d": "day", "week": "week", "month": "month", "yr": "year",
        "rpm": "[rotation]", "kg": "kilogram", "in": "inch", "ft": "foot", "yd": "yard", "mi": "mile",
        "t": "metric_ton", "kt": "kilometric_ton", "Mt": "megametric_ton", "lb": "pound", "oz": "ounce",
        "gal": "gallon", "ha": "hectare", "atm": "standard_atmosphere", "psi": "pound_force_per_square_inch",
        "mmHg": "millimeter_Hg", "Torr": "torr", "mmH2O": "water_millimeter", "hp": "horsepower",
        "PS": "metric_horsepower", "BTU": "Btu", "degC": "delta_degree_Celsius",
        "degF": "delta_degree_Fahrenheit", "rad": "radian", "deg": "degree", "Nm3": "[normal_volume]",
        "Sm3": "[standard_volume]", "ou": "[odor]", "%": "[percent]", "permil": "[permil]",
        "vol%": "[volume_percent]", "wt%": "[mass_percent]", "mol%": "[mole_percent]",
        "%RH": "[relative_humidity]", "ppm": "[part]", "ppb": "[part]", "ppmv": "[volume_part]",
        "ppbv": "[volume_part]", "bara": "bar", "psig": "[gauge_psi]", "pH": "[acidity]",
        "dB": "[sound_level]", "dBA": "[a_weighted_sound_level]", "pcs": "[count]", "var": "[reactive_power]",
        "kvar": "[reactive_power]",
    }
)  # fmt: skip
"""Units that take no SI prefix: canonical symbol -> pint name, or a dimension of its own in brackets."""

SCALES = MappingProxyType({"Nm3": "1000", "ppm": "1000", "ppmv": "1000", "kvar": "1000"})
"""Size of a unit of an own dimension, in its smallest unit (NL, ppb, ppbv, var)."""

SYMBOLS = spellings(
    """
    L: l ltr Ltr lt Lt
    s: sec Sec
    h: hr hrs Hr Hrs H Std Std.
    min: Min Min. min. mins
    yr: a y yrs
    NL: Nl
    rpm: RPM
    g: gr
    kg: kgs Kg KG
    km: KM Km
    cm: CM
    mm: MM
    lb: lbs lb. lbs. LB LBS
    oz: oz.
    cm3: cc ccm
    m3: cbm CBM
    m2: qm sqm
    ft2: sqft
    ft3: cft
    ug: mcg
    degC: C °C degc deg.C
    degF: F °F degf deg.F
    deg: ° º
    K: K °K
    Ohm: Ω ohm ohms
    hp: HP
    PS: CV
    Torr: torr
    psi: PSI psia
    psig: psi(g)
    barg: bar(g) barg barü
    bara: bar(a)
    mbarg: mbar(g)
    mbar: mbar(a) mbara Mbar mBar
    BTU: Btu btu
    var: VAr VAR
    kvar: kVAr kVAR
    kW: KW Kw kw
    kWh: KWh kwh kWhr KWH
    kPa: kpa Kpa KPa
    bar: Bar
    mg: MG
    mL: ML Ml
    IU: UI iu ui U
    ou: OU OUE ouE ouₑ GE UO
    ppm: PPM
    ppb: PPB
    ppmv: ppm(v) ppmV vppm
    ppbv: ppb(v)
    permil: ‰
    dBA: dB(A) dbA
    dB: db
    pH: ph PH
    eq: Eq
    pcs: pc pcs pc. pcs. PCS Stk Stk. St. ea EA uds pza
    Nm3: NM3 m3N m3(N) m3n m3(n) Ncbm
    N*m: Nm
    kN*m: kNm
    mN*m: mNm
    mmH2O: mmWS mmWC mm.H2O
    Hz: HZ
    in: in.
    ft: ft.
    gal: gal.
    """
)
"""Other symbols, case-sensitive: spelling -> canonical symbol, with a power or not."""

WHOLE = spellings(
    """
    ft3/min: cfm
    mmH2O: mmws mmwc mmh2o
    mmHg: mmhg
    gal/min: gpm
    L/min: lpm l/min.
    rpm: u/min upm rev/min r/min
    km/h: kmh kph
    mi/h: mph
    %: percent prozent pourcent porciento pct
    %RH: %rh %r.h. rh% %r.f. %rf
    vol%: vol% vol.% vol.-% vol-% %vol %vol. %(v/v) %v/v v/v% vol.percent volume% volumepercent
    vol%: volumenprozent volumen-% %volume
    vol%: %envolume %envolumen volpct volprozent %byvolume vol.-prozent %(vol) %(vol.)
    wt%: wt% wt.% wt.-% wt-% %wt %w/w %(w/w) w/w% mass% gew.-% gew.% gew% ma.-% m.-% masse-%
    wt%: gewichtsprozent massenprozent
    wt%: weightpercent %byweight %m/m %(m/m)
    mol%: mol% mol-% mol.% mol.-% molpercent molprozent
    ppm: partspermillion
    ppb: partsperbillion
    permil: promille permille
    """
)
"""Spellings of whole units, lower case and without spaces."""

WORDS = spellings(
    """
    g: gram grams gramm gramme grammes gramo gramos
    m: meter meters metre metres mètre mètres metro metros
    s: second seconds sekunde sekunden seconde secondes segundo segundos
    min: minute minutes minuten minuto minutos
    h: hour hours stunde stunden heure heures hora horas
    d: day days tag tage jour jours día días dia dias
    week: weeks woche wochen semaine semaines semana semanas
    month: months monat monate mois mes meses mo
    yr: year years jahr jahre an ans année années año años
    t: tonne tonnes tonnen tonelada toneladas
    L: liter liters litre litres litro litros
    Pa: pascal pascals
    bar: bars
    J: joule joules
    W: watt watts vatio vatios
    Wh: watthour watthours wattstunde wattstunden
    V: volt volts voltio voltios
    A: ampere amperes amp amps ampère ampères amperio amperios
    Hz: hertz
    mol: mole moles mol mols
    N: newton newtons
    K: kelvin kelvins
    in: inch inches zoll
    ft: foot feet
    yd: yard yards
    mi: mile miles meile meilen
    lb: pound pounds
    oz: ounce ounces
    gal: gallon gallons
    degC: celsius centigrade
    degF: fahrenheit
    ha: hectare hectares hektar
    atm: atmosphere atmospheres
    hp: horsepower
    ou: odourunits odorunits odourunit odorunit
    pcs: piece pieces stück stueck pièce pièces pieza piezas unidad unidades each
    cal: calorie calories
    eq: equivalent equivalents
    B: byte bytes
    rad: radian radians
    """
)
"""Words for units, lower case: word -> canonical symbol."""

POWERS_BEFORE = MappingProxyType({"square": 2, "sq": 2, "sq.": 2, "cubic": 3, "cu": 3, "cu.": 3})
"""Words that raise the following unit to a power."""

POWERS_AFTER = MappingProxyType(
    {
        **dict.fromkeys(("carré", "carrés", "cuadrado", "cuadrados"), 2),
        **dict.fromkeys(("cube", "cubes", "cúbico", "cúbicos", "cubico", "cubicos"), 3),
    }
)
"""Words that raise the preceding unit to a power."""

COMPOUNDS = MappingProxyType({"kubik": 3, "quadrat": 2})
"""Words joined to a length in German, and their powers."""

NORMALS = frozenset({"normal", "norm", "normaux", "normales", "N", "(N)", "(n)", "i.N.", "i.n.", "N."})
"""Words beside a cubic meter that make it a normal one."""

PERS = frozenset({"per", "pro", "par", "por", "je"})
"""Words for the fraction stroke."""

DEGREES = MappingProxyType({"c": "degC", "celsius": "degC", "f": "degF", "fahrenheit": "degF"})
"""Letters and words after a degree sign or word."""
