"""Words of dates and durations in all `LANGUAGES`, folded: reading them from Babel takes half a second.

Written by `tests/values/types/record_date_words.py` from Unicode CLDR (Unicode License V3) as Babel has it; a
space inside a word is an underscore.
"""

from __future__ import annotations

MONTHS = {
    1: """
    ene enero gen gener gennaio ian ianuarie jaan jaanuar jaenner jan janeiro januar januara januari
    january janv janvaris janvier led leden ledna oca ocak saus sausio sausis sij sijecanj sijecnja sty
    styczen stycznia tammi tammikuu tammikuuta ιαν ιανουαριοσ ιανουαριου січ січень січня янв январь
    января яну януари
""",
    2: """
    feb febbraio febr febrer febrero februar februara februari februarie februaris february fev
    fevereiro fevr fevrier helmi helmikuu helmikuuta lut lutego luty sub subat uno unor unora vas
    vasario vasaris veebr veebruar velj veljaca veljace φεβ φεβρουαριοσ φεβρουαριου лют лютии лютого фев
    февр февраль февраля февруари
""",
    3: """
    bre brezen brezna kov kovas kovo maalis maaliskuu maaliskuuta maart maerz mar marc marca march
    marcius marco marec maret mars mart martie marts marz marzec marzo mrt mrz ozu ozujak ozujka μαρ
    μαρτιοσ μαρτιου бер березень березня мар март марта
""",
    4: """
    abr abril apr april aprila aprile aprilie aprilis aprill avr avril bal balandis balandzio dub duben
    dubna huhti huhtikuu huhtikuuta kwi kwiecien kwietnia nis nisan tra travanj travnja απρ απριλιοσ
    απριλιου апр апрель апреля април квіт квітень квітня
""",
    5: """
    geg geguze geguzes kve kveten kvetna mag maggio mai maig maijs maio maj maja majus may mayis mayo
    mei svi svibanj svibnja touko toukokuu toukokuuta μαι μαιοσ μαιου маи мая трав травень травня
""",
    6: """
    birz birzelio birzelis cerven cervna cvn cze czerwca czerwiec giu giugno haz haziran iun iunie juin
    jun juna june junho juni junij junijs junio junius juny juuni kesa kesakuu kesakuuta lipanj lipnja
    ιουν ιουνιοσ ιουνιου июн июнь июня черв червень червня юни
""",
    7: """
    cervence cervenec cvc heina heinakuu heinakuuta iul iulie juil juillet jul jula julho juli julij
    julijs julio juliol julius july juuli liep liepa liepos lip lipca lipiec lug luglio srpanj srpnja
    tem temmuz ιουλ ιουλιοσ ιουλιου июл июль июля лип липень липня юли
""",
    8: """
    ag ago agost agosto agu agustos agustus aout aug august augusta augusti augusts augustus augusztus
    avg avgust elo elokuu elokuuta kol kolovoz kolovoza rugp rugpjucio rugpjutis sie sierpien sierpnia
    srp srpen srpna αυγ αυγουστοσ αυγουστου авг август августа серп серпень серпня
""",
    9: """
    eyl eylul rugs rugsejis rugsejo ruj rujan rujna sep sept september septembra septembre septembrie
    septembris septiembre set setembre setembro settembre syys syyskuu syyskuuta szept szeptember wrz
    wrzesien wrzesnia zar zari σεπ σεπτεμβριοσ σεπτεμβριου вер вересень вересня сент сентябрь сентября
    сеп септември
""",
    10: """
    eki ekim loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktober oktobra oktobris
    oktoober ott ottobre out outubro paz pazdziernik pazdziernika rij rijen rijna spal spalio spalis οκτ
    οκτωβριοσ οκτωβριου жовт жовтень жовтня окт октомври октябрь октября
""",
    11: """
    kas kasim lapkr lapkricio lapkritis lis listopad listopada listopadu marras marraskuu marraskuuta
    noiembrie nov november novembra novembre novembris novembro noviembre stu studeni studenoga νοε
    νοεμβριοσ νοεμβριου лист листопад листопада ное ноември нояб ноябрь ноября
""",
    12: """
    ara aralik dec december decembra decembre decembrie decembris des desember desembre dets detsember
    dez dezember dezembro dic dicembre diciembre gru grudnia grudzien gruod gruodis gruodzio joulu
    joulukuu joulukuuta pro prosinac prosinca prosince prosinec δεκ δεκεμβριοσ δεκεμβριου груд грудень
    грудня дек декабрь декабря декември
""",
}

CLASHING_MONTHS = """
    lip lis listopad listopada srp
"""

WEEKDAYS = """
    an antradienis car carsamba cet cetrtek ceturtd ceturtdiena cetvrtak cmt cs csutortok ct ctvrtek cum
    cuma cumartesi czw czwartek dc dg di dienstag dijous dilluns dim dimanche dimarts dimecres dinsdag
    dissabte diumenge divendres dj dl do dom domenica domingo donderdag donnerstag ds dt dum duminica dv
    e esmaspaev feira fr fre fredag freitag fri friday gio giovedi h hetfo jeu jeudi joi jue jueves jum
    jumat k kam kamis ke kedd keskiviikko keskiviikkona ketvirtadienis kolmapaev kt l la lauantai
    lauantaina laupaev lor lordag lun lundi lunedi lunes luni lør lørdag ma maanantai maanantaina
    maandag man mandag mar mardi martedi martes marti mer mercoledi mercredi mi mie miercoles miercuri
    min minggu mittwoch mo mon monday montag n ne ned nedela nedele nedelja nedjelja neljapaev niedz
    niedziela ons onsdag otrd otrdiena p pa patek paz pazar pazartesi pe penktadienis pentek per
    perjantai perjantaina persembe pet petak petek pi piatek piatok piektd piektdiena pirmadienis pirmd
    pirmdiena pn po pon pondeli pondelok ponedeljek ponedjeljak poniedziałek pr pt puhapaev pzt qua
    quarta qui quinta r rab rabu reede sa sab sabado sabato sabtu sal sali sam sambata samedi samstag
    sat saturday seg segunda sekmadienis sel selasa sen senin sestadienis sestd sestdiena sex sexta sk
    so sob sobota son sondag sonntag sr sre sreda sri srijeda sroda st streda stvrtok su sub subota sun
    sunday sunnuntai svetd svetdiena sze szerda szo szombat søn søndag t teisipaev ter terca thu
    thursday ti tiistai tiistaina tir tirs tirsdag tis tisdag to tor torek tors torsdag torstai
    torstaina tr treciadienis tresd tresdiena tue tuesday ut utery uto utorak utorok v vasarnap ven
    vendredi venerdi vie viernes vin vineri vr vrijdag wed wednesday wo woensdag wt wtorek za zaterdag
    zo zondag δευ δευτερα κυρ κυριακη παρ παρασκευη πεμ πεμπτη σαβ σαββατο τετ τεταρτη τρι τριτη
    воскресенье вс вт вторник вівторок нд неделя неділя пʼятниця петък пн понеделник понедельник
    понеділок пт пятница сб середа ср среда сряда суббота субота събота четвер четверг четвъртък чт
"""

FILLERS = """
    d de del den feira gada m sexta terca г р
"""

UNITS = {
    "microsecond": """
    duration-microsecond microsecond microseconde microseconden microsecondes microsecondi microsecondo
    microseconds microsecunda microsecunde microsegon microsegons microsegundo microsegundos
    microssegundo microssegundos mikrodetik mikrosaniye mikrosekund mikrosekunda mikrosekunde
    mikrosekunden mikrosekunder mikrosekundes mikrosekundi mikrosekundit mikrosekundy mikrosekunti
    mikrosekuntia mikroszekundum μd μs μsn μικροδευτερα μικροδευτερολεπτα μικροδευτερολεπτο микросекунд
    микросекунда микросекунди микросекунды мкс мікросекунд мікросекунда мікросекунди
""",
    "millisecond": """
    duration-millisecond ezredmasodperc milidetik milisaniye milisecunda milisecunde milisegundo
    milisegundos milisek milisekund milisekunda milisekunde milisekundes milisekundi milisekundy
    milissegundo milissegundos millisecond milliseconde milliseconden millisecondes millisecondi
    millisecondo milliseconds millisekund millisekunde millisekunden millisekunder millisekundi
    millisekundit millisekunti millisekuntia mil·lisegon mil·lisegons ms msn χιλ._δευτ χιλιοστα_δευτ
    χιλιοστα_του_δευτερολεπτου χιλιοστο_του_δευτερολεπτου милисекунда милисекунди миллисекунд
    миллисекунда миллисекунды мс мсек мілісекунд мілісекунда мілісекунди
""",
    "second": """
    detik dtk duration-second masodperc mp s saniye sec second seconde seconden secondes secondi secondo
    seconds secunda secunde segon segons segundo segundos sek sekund sekunda sekunde sekunden sekunder
    sekundes sekundi sekundit sekundy sekunti sekuntia sn δ δευτ δευτερολεπτα δευτερολεπτο с сек секунд
    секунда секунди секунды
""",
    "minute": """
    dakika dk duration-minute m menit min minut minuta minute minuten minuter minutes minuti minutit
    minuto minutos minuts minutt minutter minuty minuut minuutti minuuttia mnt p perc λ λεπτα λεπτο мин
    минут минута минути минуты х хв хвилин хвилина хвилини
""",
    "hour": """
    duration-hour godz godzin godzina godziny h heure heures hodin hodina hodiny hora horas hores hour
    hours hr jam o ora ore sa saat sat sata sati st std stunda stundas stunde stunden tim time timer
    timmar timme tund tundi tunti tuntia u ur ura ure uri uur val valanda valandos ω ωρα ωρεσ годин
    година години ч час часа часов
""",
    "day": """
    d dag dage dagen dan dana day days den dia dias diena dienas dienos dies dneva dni dnu dny
    duration-day dygn dzien døgn g gg giorni giorno gun hari jour jours nap oopaev oopaeva paev paeva
    paiva paivaa pv t tag tage tg z zi zile η ημερα ημερεσ д ден день дн днеи дни дня дні днів
""",
    "week": """
    duration-week hafta het hf mgg minggu n nad nadal nadalat ned nedela nedelas sapt saptamana
    saptamani sav savaite savaites sem semaine semaines semana semanas setm setmana setmanes sett
    settimana settimane teden tedna tednov tj tjedan tjedana tjedna tyd tyden tydnu tydny tydz tydzien
    tyg tygodni tygodnie tyz tyzden tyzdne tyzdnov uge uger uke uker v vecka veckor viikko viikkoa vk w
    week weeks weken wk wkn wks wo woche wochen ε εβδ εβδομαδα εβδομαδεσ н нед недели недель неделя седм
    седмица седмици т тиж тиждень тижні тижнів
""",
    "month": """
    ay bln bulan duration-month honap kk kuu kuud kuukausi kuukautta luna luni m-c m-ce m-cy maand
    maanden man manad manader maned maneder md mdr men menesi menesiai menesis menuo mes mese mesec
    meseca mesecev meseci meses mesi mesiac mesiace mesiacov mesic mesice mesicu mesos mies miesiac
    miesiace miesiecy mj mjesec mjeseca mjeseci mnd mois mon monat monate month months mth mths μ μην
    μηνασ μηνεσ м мес месец месеца месяц месяца месяцев міс місяць місяці місяців
""",
    "quarter": """
    c cet cetrtl cetrtletij cetrtletje cetrtletji ceturksni ceturksnis cetvrtina cetvrtine cey ceyrek cl
    ctvrtl ctvrtleti duration-quarter k ketv ketvirciai ketvirtis krt kuartal kv kvart kvartal kvartaler
    kvartalit kvartar kvt kw kwart kwartaal kwartalen kwartał kwartałow kwartały n.ev negyedev neljannes
    neljannesta q qtr qtrs quart quartal quartale quarter quarters stvrtrok stvrtrokov stvrtroky trim
    trimestre trimestres trimestri trimestru τετ τεταρτα τεταρτο кв кварт квартал квартала квартали
    кварталов кварталів трим тримес тримесечие тримесечия
""",
    "year": """
    a aasta aastat an ani anni anno ano anos ans any anys ar duration-year ev gadi gads godina godine j
    jaar jahr jahre jr l lat lata let leti leto metai r rok rokov roky tahun thn vuosi vuotta y year
    years yil yr yrs ετ ετη ετοσ г год года л лет р роки років рік
""",
}

AMBIGUOUS_UNITS = """
    a c d g h hr j k l m md p s t u v ε г год година години
"""
