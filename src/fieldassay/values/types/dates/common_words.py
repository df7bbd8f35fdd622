"""Words of dates and durations in all `LANGUAGES`, folded: reading them from Babel takes half a second.

Written by `tests/values/record_words.py` from Unicode CLDR (Unicode License V3) as Babel 2.18
has it; a space inside a word is an underscore.
"""

MONTHS = {
    "en": """
    jan january / feb february / mar march / apr april / may / jun june / jul july / aug august / sep
    sept september / oct october / nov november / dec december
""",
    "de": """
    jaenner jan januar / feb februar / maerz mar marz mrz / apr april / mai / jun juni / jul juli / aug
    august / sep sept september / okt oktober / nov november / dez dezember
""",
    "fr": """
    janv janvier / fev fevr fevrier / mars / avr avril / mai / juin / juil juillet / aout / sept
    septembre / oct octobre / nov novembre / dec decembre
""",
    "es": """
    ene enero / feb febrero / mar marzo / abr abril / may mayo / jun junio / jul julio / ago agosto /
    sept septiembre set / oct octubre / nov noviembre / dic diciembre
""",
    "it": """
    gen gennaio / feb febbraio / mar marzo / apr aprile / mag maggio / giu giugno / lug luglio / ago
    agosto / set sett settembre / ott ottobre / nov novembre / dic dicembre
""",
    "pt": """
    jan janeiro / fev fevereiro / mar marco / abr abril / mai maio / jun junho / jul julho / ago agosto
    / set setembro / out outubro / nov novembro / dez dezembro
""",
    "nl": """
    jan januari / feb februari / maart mrt / apr april / mei / jun juni / jul juli / aug augustus / sep
    sept september / okt oktober / nov november / dec december
""",
    "sv": """
    jan januari / feb februari / mars / apr april / maj / juni / juli / aug augusti / sep september /
    okt oktober / nov november / dec december
""",
    "da": """
    jan januar / feb februar / mar marts / apr april / maj / jun juni / jul juli / aug august / sep
    september / okt oktober / nov november / dec december
""",
    "nb": """
    jan januar / feb februar / mar mars / apr april / mai / jun juni / jul juli / aug august / sep
    september / okt oktober / nov november / des desember
""",
    "fi": """
    tammi tammikuu tammikuuta / helmi helmikuu helmikuuta / maalis maaliskuu maaliskuuta / huhti
    huhtikuu huhtikuuta / touko toukokuu toukokuuta / kesa kesakuu kesakuuta / heina heinakuu heinakuuta
    / elo elokuu elokuuta / syys syyskuu syyskuuta / loka lokakuu lokakuuta / marras marraskuu
    marraskuuta / joulu joulukuu joulukuuta
""",
    "pl": """
    sty styczen stycznia / lut lutego luty / mar marca marzec / kwi kwiecien kwietnia / maj maja / cze
    czerwca czerwiec / lip lipca lipiec / sie sierpien sierpnia / wrz wrzesien wrzesnia / paz
    pazdziernik pazdziernika / lis listopad listopada / gru grudnia grudzien
""",
    "cs": """
    led leden ledna / uno unor unora / bre brezen brezna / dub duben dubna / kve kveten kvetna / cerven
    cervna cvn / cervence cervenec cvc / srp srpen srpna / zar zari / rij rijen rijna / lis listopad
    listopadu / pro prosince prosinec
""",
    "id": """
    jan januari / feb februari / mar maret / apr april / mei / jun juni / jul juli / agu agustus / sep
    september / okt oktober / nov november / des desember
""",
    "tr": """
    oca ocak / sub subat / mar mart / nis nisan / may mayis / haz haziran / tem temmuz / agu agustos /
    eyl eylul / eki ekim / kas kasim / ara aralik
""",
    "ro": """
    ian ianuarie / feb februarie / mar martie / apr aprilie / mai / iun iunie / iul iulie / aug august /
    sept septembrie / oct octombrie / noiembrie nov / dec decembrie
""",
    "hu": """
    jan januar / febr februar / marc marcius / apr aprilis / maj majus / jun junius / jul julius / aug
    augusztus / szept szeptember / okt oktober / nov november / dec december
""",
    "sk": """
    jan januar januara / feb februar februara / mar marca marec / apr april aprila / maj maja / jun juna
    / jul jula / aug august augusta / sep september septembra / okt oktober oktobra / nov november
    novembra / dec december decembra
""",
    "ca": """
    gen gener / febr febrer / marc / abr abril / maig / juny / jul juliol / ag agost / set setembre /
    oct octubre / nov novembre / des desembre
""",
    "et": """
    jaan jaanuar / veebr veebruar / marts / apr aprill / mai / juuni / juuli / aug august / sept
    september / okt oktoober / nov november / dets detsember
""",
    "lv": """
    janv janvaris / febr februaris / marts / apr aprilis / maijs / jun junijs / jul julijs / aug augusts
    / sept septembris / okt oktobris / nov novembris / dec decembris
""",
    "lt": """
    saus sausio sausis / vas vasario vasaris / kov kovas kovo / bal balandis balandzio / geg geguze
    geguzes / birz birzelio birzelis / liep liepa liepos / rugp rugpjucio rugpjutis / rugs rugsejis
    rugsejo / spal spalio spalis / lapkr lapkricio lapkritis / gruod gruodis gruodzio
""",
    "sl": """
    jan januar / feb februar / mar marec / apr april / maj / jun junij / jul julij / avg avgust / sep
    september / okt oktober / nov november / dec december
""",
    "hr": """
    sij sijecanj sijecnja / velj veljaca veljace / ozu ozujak ozujka / tra travanj travnja / svi svibanj
    svibnja / lip lipanj lipnja / srp srpanj srpnja / kol kolovoz kolovoza / ruj rujan rujna / lis
    listopad listopada / stu studeni studenoga / pro prosinac prosinca
""",
    "el": """
    ιαν ιανουαριοσ ιανουαριου / φεβ φεβρουαριοσ φεβρουαριου / μαρ μαρτιοσ μαρτιου / απρ απριλιοσ
    απριλιου / μαι μαιοσ μαιου / ιουν ιουνιοσ ιουνιου / ιουλ ιουλιοσ ιουλιου / αυγ αυγουστοσ αυγουστου /
    σεπ σεπτεμβριοσ σεπτεμβριου / οκτ οκτωβριοσ οκτωβριου / νοε νοεμβριοσ νοεμβριου / δεκ δεκεμβριοσ
    δεκεμβριου
""",
    "ru": """
    янв январь января / февр февраль февраля / мар март марта / апр апрель апреля / маи мая / июн июнь
    июня / июл июль июля / авг август августа / сент сентябрь сентября / окт октябрь октября / нояб
    ноябрь ноября / дек декабрь декабря
""",
    "uk": """
    січ січень січня / лют лютии лютого / бер березень березня / квіт квітень квітня / трав травень
    травня / черв червень червня / лип липень липня / серп серпень серпня / вер вересень вересня / жовт
    жовтень жовтня / лист листопад листопада / груд грудень грудня
""",
    "bg": """
    яну януари / фев февруари / март / апр април / маи / юни / юли / авг август / сеп септември / окт
    октомври / ное ноември / дек декември
""",
}

WEEKDAYS = {
    "en": """
    mon monday / tue tuesday / wed wednesday / thu thursday / fri friday / sat saturday / sun sunday
""",
    "de": """
    mo montag / di dienstag / mi mittwoch / do donnerstag / fr freitag / sa samstag / so sonntag
""",
    "fr": """
    lun lundi / mar mardi / mer mercredi / jeu jeudi / ven vendredi / sam samedi / dim dimanche
""",
    "es": """
    lun lunes / mar martes / mie miercoles / jue jueves / vie viernes / sab sabado / dom domingo
""",
    "it": """
    lun lunedi / mar martedi / mer mercoledi / gio giovedi / ven venerdi / sab sabato / dom domenica
""",
    "pt": """
    feira seg segunda / feira ter terca / feira qua quarta / feira qui quinta / feira sex sexta / feira
    sab sabado / dom domingo feira
""",
    "nl": """
    ma maandag / di dinsdag / wo woensdag / do donderdag / vr vrijdag / za zaterdag / zo zondag
""",
    "sv": """
    man mandag / tis tisdag / ons onsdag / tors torsdag / fre fredag / lor lordag / son sondag
""",
    "da": """
    man mandag / tirs tirsdag / ons onsdag / tors torsdag / fre fredag / lør lørdag / søn søndag
""",
    "nb": """
    man mandag / tir tirsdag / ons onsdag / tor torsdag / fre fredag / lør lørdag / søn søndag
""",
    "fi": """
    ma maanantai maanantaina / ti tiistai tiistaina / ke keskiviikko keskiviikkona / to torstai
    torstaina / pe perjantai perjantaina / la lauantai lauantaina / su sunnuntai
""",
    "pl": """
    pon poniedziałek / wt wtorek / sr sroda / czw czwartek / piatek pt / sob sobota / niedz niedziela
""",
    "cs": """
    po pondeli / ut utery / st streda / ct ctvrtek / pa patek / so sobota / ne nedele
""",
    "id": """
    sen senin / sel selasa / rab rabu / kam kamis / jum jumat / sab sabtu / min minggu
""",
    "tr": """
    pazartesi pzt / sal sali / car carsamba / per persembe / cum cuma / cmt cumartesi / paz pazar
""",
    "ro": """
    lun luni / mar marti / mie miercuri / joi / vin vineri / sam sambata / dum duminica
""",
    "hu": """
    h hetfo / k kedd / sze szerda / cs csutortok / p pentek / szo szombat / v vasarnap
""",
    "sk": """
    po pondelok st / st ut utorok / st streda / st stvrtok / pi piatok st / so sobota st / ne nedela st
""",
    "ca": """
    dilluns dl / dimarts dt / dc dimecres / dijous dj / divendres dv / dissabte ds / dg diumenge
""",
    "et": """
    e esmaspaev / t teisipaev / k kolmapaev / n neljapaev / r reede / l laupaev / p puhapaev
""",
    "lv": """
    pirmd pirmdiena / otrd otrdiena / tresd tresdiena / ceturtd ceturtdiena / piektd piektdiena / sestd
    sestdiena / svetd svetdiena
""",
    "lt": """
    pirmadienis pr / an antradienis / tr treciadienis / ketvirtadienis kt / penktadienis pn /
    sestadienis st / sekmadienis sk
""",
    "sl": """
    pon ponedeljek / tor torek / sre sreda / cet cetrtek / pet petek / sob sobota / ned nedelja
""",
    "hr": """
    pon ponedjeljak / uto utorak / sri srijeda / cet cetvrtak / pet petak / sub subota / ned nedjelja
""",
    "el": """
    δευ δευτερα / τρι τριτη / τετ τεταρτη / πεμ πεμπτη / παρ παρασκευη / σαβ σαββατο / κυρ κυριακη
""",
    "ru": """
    пн понедельник / вт вторник / ср среда / четверг чт / пт пятница / сб суббота / воскресенье вс
""",
    "uk": """
    пн понеділок / вт вівторок / середа ср / четвер чт / пʼятниця пт / сб субота / нд неділя
""",
    "bg": """
    пн понеделник / вт вторник / ср сряда / четвъртък чт / петък пт / сб събота / нд неделя
""",
}

PHRASES = """
es M de y, d de M
pt M de y, d de M
da W den d
ca d d M, d de M, M del y
lv y g $, y g M, y g d, y gada d
lt d d $, d d W, y m M
ru y г $
uk y р $
bg y г $
"""

ZONES = """
    aac acac acdt acst act acwdt acwst acwt adt aedt aest aet aft akdt akst akt almt amst amt anast anat
    aqtt arst art asac ast at awdt awst awt azost azot azst azt bnt bot brst brt bst btt cast cat cct
    cdt cest cet chadt chast chat chst chut cit ckt clst clt cost cot cst ct cudt cust cut cvst cvt cxt
    davt ddut easst east eat ect edt eedt eest eet egdt egst egt eit est et feet fjt fkst fkt fnst fnt
    galt gamt gest get gft git gmt gnsst gnst gst gyt ha hac hadt hae hak hap har has hast hat hc hcu
    hdt he hea heak hec hecu hee heeg heg heha heog hep hepm hepmx her hetn hha hkst hkt hna hnak hnc
    hncu hne hneg hnha hnog hnp hnpm hnpmx hnr hnt hntn hog hovst hovt hp hpm hpmx hr hst ht htn ict idt
    iot irdt irkst irkt irst ist jadkr jca jcakr jckr jdt jhya jqg jskr jst jta jtakr jtkr jya jyt jytkr
    kgt kost krast krat kst lhdt lhst lht lint mag magst magt mart mawt mdt mesz mez mht mmt msd msk mst
    mt must mut mvt myt nct ndt nfdt nft novst novt npt nrt nst nt nut nzdt nzst nzt oak oesz oez oia
    oiak oimp oio oip oit ola olak olmp olo olp olt omg omp omsst omst pdt pdtm pest pet petdt petst
    pett pgt phot pkt pmdt pmst pmt pont pst pstm pt pwt pyst pyt qyzt ret rott sak sakst sakt samst
    samt sast sbt sct sec selc sgr sgro sgt sha shak shal shc shgr shgro shha shk shn shnf shp shr sjad
    sjca sjta sjya sjyt slst snf srt ssa ssak ssc ssgr ssgro ssha ssk ssn ssnf ssp ssr syot taaf taht
    tjt tkt tlt tmst tmt tost tot tvt twt ulast ulat uyst uyt uzt vet vlast vlat vnzlt volst volt vost
    vut wakt warst wart wast wat wedt west wesz wet wez wft wgst wgt wib wit wita yakst yakt yekst yekt
    yst
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
