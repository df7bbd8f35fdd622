"""Spellings of units: symbols, words in English, German, French and Spanish, and their names in pint."""

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


PREFIXES = MappingProxyType({**{prefix: prefix for prefix in "fpnumcdhkMGT"}, "mc": "u"})
"""SI prefixes as symbols, and the micro of prescriptions."""

PREFIX_WORDS = MappingProxyType(
    {
        "femto": "f", "pico": "p",
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
        "K": "kelvin", "barg": "[gauge_pressure]", "kat": "katal", "osm": "[osmole]", "Ci": "curie",
    }
)  # fmt: skip
"""Units that take SI prefixes: canonical symbol -> pint name, or a dimension of its own in brackets."""

_ARBITRARY = """
    [arb'U] [USP'U] [GPL'U] [MPL'U] [APL'U] [beth'U] [anti'Xa'U] [todd'U] [dye'U] [smgy'U] [bdsk'U] [ka'U]
    [knk'U] [mclg'U] [tb'U] [PFU] [FFU] [CFU] [IR] [BAU] [AU] [PNU] [Lf] [D'ag'U] [FEU] [ELU] [EU] [HPF] [LPF]
"""
"""Arbitrary units of UCUM 2.1 (ucum.org): each is a dimension of its own."""

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
        "kvar": "[reactive_power]", "cmH2O": "water_centimeter", "1.73m2": "[body_surface]",
        **{code: code for code in _ARBITRARY.split()},
    }
)  # fmt: skip
"""Units that take no SI prefix: canonical symbol -> pint name, or a dimension of its own in brackets."""

SCALES = MappingProxyType({"Nm3": "1000", "ppm": "1000", "ppmv": "1000", "kvar": "1000"})
"""Size of a unit of an own dimension, in its smallest unit (NL, ppb, ppbv, var)."""

_CODES = """
    g: GRM GMS
    kg: KGM KGS
    mg: MGM
    t: TNE
    L: LTR
    kL: K6 KLR
    mL: MLT
    dL: DLT
    cL: CLT
    hL: HLT
    m: MTR
    cm: CMT CMS
    km: KME
    m2: MTK SQM
    cm2: CMK
    mm2: MMK
    dm2: DMK
    km2: KMK
    ha: HAR
    m3: MTQ
    cm3: CMQ
    mm3: MMQ
    dm3: DMQ
    in: INH
    ft: FOT
    yd: YRD YDS
    mi: SMI
    ft2: FTK SQF
    yd2: YDK SQY
    in3: INQ
    ft3: FTQ
    yd3: YDQ
    oz: ONZ
    lb: LBR
    gal: GLL
    s: SEC
    h: HUR
    week: WEE
    month: MON
    yr: ANN
    Hz: HTZ
    kHz: KHZ
    MHz: MHZ
    V: VLT
    kV: KVT
    W: WTT
    kW: KWT
    MW: MAW
    Wh: WHR
    MWh: MWH
    kVA: KVA
    J: JOU
    kJ: KJO
    degC: CEL
    degF: FAH
    K: KEL
    kPa: KPA
    MPa: MPA
    pcs: C62 H87 NAR NMB PCE NOS
"""
"""Codes of units of UN/ECE Recommendation 20, and of the Unique Quantity Codes of Indian invoices.

Left out are words, and those that say something else elsewhere: `NEW`, `PAL`, `TON`, `MTS`, `DMT`.
"""

SYMBOLS = spellings(
    _CODES
    + """
    L: l ltr Ltr lt Lt
    s: sec Sec
    h: hr hrs Hr Hrs H Std Std.
    min: Min Min. min. mins
    yr: a y yrs
    NL: Nl
    rpm: RPM
    g: gr gm gms
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
    mg: MG mgs
    kcal: Cal Calorie Calories
    mm3: cumm cmm cu.mm c.mm
    osm: Osm
    [HPF]: HPF hpf
    [LPF]: LPF lpf
    [CFU]: CFU cfu
    [PFU]: PFU pfu
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
    degC: Cel
    degF: [degF]
    mmHg: mm[Hg]
    mmH2O: mm[H2O]
    cmH2O: cm[H2O] cmWS cmWC
    IU: [IU] [iU]
    pH: [pH]
    ppm: [ppm]
    ppb: [ppb]
    in: [in_i]
    in2: [sin_i]
    in3: [cin_i]
    ft: [ft_i]
    ft2: [sft_i]
    ft3: [cft_i]
    yd: [yd_i]
    yd2: [syd_i]
    yd3: [cyd_i]
    mi: [mi_i]
    lb: [lb_av]
    oz: [oz_av]
    gal: [gal_us]
    psi: [psi]
    hp: [HP]
    BTU: [Btu]
    kcal: [Cal]
    ha: har
    week: wk
    B: By
    pcs: pc pcs pc. pcs. PCS nos nos. Stk Stk. St. ea EA uds pza
    Nm3: NM3 m3N m3(N) m3n m3(n) Ncbm
    N*m: Nm
    kN*m: kNm
    mN*m: mNm
    mmH2O: mmWS mmWC mm.H2O
    Hz: HZ hz
    kHz: khz KHz
    kVA: kva
    kV: KV kv
    in: in.
    ft: ft.
    gal: gal.
    """
)
"""Other symbols, also those of UCUM, case-sensitive: spelling -> canonical symbol, with a power or not."""

WHOLE = spellings(
    """
    ft3/min: cfm
    mmH2O: mmws mmwc mmh2o
    mmHg: mmhg
    g/dL: g% gm%
    mg/dL: mg%
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

POWERS_OF_TEN = MappingProxyType(
    {
        word: int(power)
        for word, power in spellings(
            """
            3: thousand thousands thou tausend tsd millier milliers
            5: lakh lakhs lac lacs
            6: million millions mn mln mio millionen millón millones milione milioni
            7: crore crores
            9: billion billions bn bln milliard milliards milliarden mrd
            12: trillion trillions tn trn
            """
        ).items()
    }
)
"""Words for powers of ten, lower case."""

COUNTS = MappingProxyType({"k": 3, "K": 3, "M": 6, "G": 9, "T": 12})
"""Prefixes that are all of a count in a volume (`G/L`), and their powers of ten."""

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

_SIDE_BY_SIDE = """
N m/W h/A h/Pa s/V A/W s/N s/A s/V s/J s/ft lb/lb ft/in lb/in oz/ha m/t km/t mi
"""
SIDE_BY_SIDE = frozenset(tuple(pair.split()) for pair in _SIDE_BY_SIDE.strip().split("/"))
"""Units without prefixes that are multiplied where they stand side by side, as in `kW h`."""

PERS = frozenset({"per", "pro", "par", "por", "je"})
"""Words for the fraction stroke."""

DEGREES = MappingProxyType({"c": "degC", "celsius": "degC", "f": "degF", "fahrenheit": "degF"})
"""Letters and words after a degree sign or word."""
