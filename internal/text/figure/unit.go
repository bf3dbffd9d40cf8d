package figure

import (
	"slices"
	"strings"
	"sync"
)

// unit is what a number counts: % for percentages, an ISO code for a currency, a
// symbol for a physical unit, "" where nothing is said.
type unit string

const (
	noUnit  unit = ""
	percent unit = "%"
	points  unit = "pp"     // percentage points
	clock   unit = "time"   // of day
	decade  unit = "decade" // the 1990s
	dollars unit = "$"      // of whatever country
	pounds  unit = "pound"
)

// share reports whether two units may stand for the same thing.
func (u unit) share(other unit) bool {
	switch {
	case u == other:
		return true
	case u == dollars:
		return strings.HasSuffix(string(other), "D") && len(other) == 3
	case other == dollars:
		return other.share(u) || strings.HasSuffix(string(u), "D") && len(u) == 3
	case u == pounds:
		return other == "GBP" || other == "lb"
	case other == pounds:
		return u == "GBP" || u == "lb"
	}
	return false
}

// signs are currency signs and codes that stand before or after a number.
var signs = map[string]unit{
	"$": dollars, "€": "EUR", "£": "GBP", "¥": "JPY", "￥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₪": "ILS", "₫": "VND", "฿": "THB", "₴": "UAH",
	"US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "R$": "BRL",
	"USD": "USD", "EUR": "EUR", "GBP": "GBP", "JPY": "JPY", "CNY": "CNY", "RMB": "CNY", "INR": "INR", "CHF": "CHF", "AUD": "AUD", "CAD": "CAD", "NZD": "NZD",
	"SEK": "SEK", "NOK": "NOK", "DKK": "DKK", "PLN": "PLN", "CZK": "CZK", "HUF": "HUF", "KRW": "KRW", "BRL": "BRL", "MXN": "MXN", "ZAR": "ZAR", "RUB": "RUB",
	"TRY": "TRY", "HKD": "HKD", "SGD": "SGD", "Rs": "INR", "Rs.": "INR",
}

// unitWords are words that stand after a number, in lower case, by language: those
// that an English page has, those in other scripts, and after a bar those of other
// languages, which are other words in English (ore, an). A word of one letter is a
// symbol and is compared as it is written.
var unitWords = sync.OnceValue(func() lexicon[unit] {
	table := lexicon[unit]{}
	for line := range strings.SplitSeq(unitTable, "\n") {
		name, list, found := strings.Cut(strings.TrimSpace(line), ": ")
		if found {
			table.add(list, unit(name))
		}
	}
	return table
})

// lexicon has the words that mean something beside a number.
type lexicon[V any] map[string]meaning[V]

type meaning[V any] struct {
	value V
	in    []string // the languages that have the word; nil: any text may
}

// add reads a list of words: "a, b | de: c, d | fr nl: e".
func (t lexicon[V]) add(list string, value V) {
	for i, part := range strings.Split(list, " | ") {
		var in []string
		if i > 0 {
			languages, rest, _ := strings.Cut(part, ": ")
			in, part = strings.Fields(languages), rest
		}
		for w := range strings.SplitSeq(part, ",") {
			t[strings.TrimSpace(w)] = meaning[V]{value, in}
		}
	}
}

// of is what a word means in a text in some languages, nil where they are not
// known.
func (t lexicon[V]) of(word string, languages []string) (value V, found bool) {
	m, found := t[word]
	if !found || m.in != nil && languages != nil && !slices.ContainsFunc(m.in, func(l string) bool { return slices.Contains(languages, l) }) {
		return value, false
	}
	return m.value, true
}

const unitTable = `
	%: %, ％, ٪, ﹪, percent, p.c, per cent, pct, процент, процента, процентов, проценты, відсоток, відсотка, відсотків, відсотки, τοις εκατό, パーセント, 퍼센트, अंश प्रतिशत, प्रतिशत, אחוז, אחוזים, في المئة, بالمئة, بالمائة | de: prozent | sv nl: procent | cs: procento, procenta | da: prosent | fi: prosenttia | fr: pour cent | es: por ciento | pt: por cento | it: per cento | vi: phần trăm | id: persen | cs: percento
	pp: percentage point, percentage points, pp | de: prozentpunkt, prozentpunkte, prozentpunkten | fr: points de pourcentage
	‰: ‰, per mille, per mil | de nl sv da: promille
	$: dollar, dollars, buck, bucks
	USD: us dollar, us dollars, u.s. dollars, american dollars
	AUD: australian dollars
	CAD: canadian dollars
	EUR: euro, euros, eur, eur., евро, євро, ευρώ, ユーロ, 유로, 欧元, 歐元, يورو, אירו, यूरो, ยูโร | fi: euroa | cs: eura
	pound: pound, pounds
	GBP: pounds sterling, quid
	lb: lb, lbs
	JPY: yen, 円, 엔, 日元
	CNY: yuan, renminbi, 元, 人民币
	INR: rupee, rupees
	RUB: rouble, roubles, ruble, rubles, рублей, рубля
	CHF: swiss franc, swiss francs | de: franken
	SEK: kronor
	KRW: won, 원
	m: m, metre, metres, meter, meters, метр, метра, метров, метрів, μέτρα, メートル, 米, 미터, มิเตอร์, เมตร, मीटर, متر, أمتار, מטרים | fr: mètre, mètres | es pt: metro, metros | it: metri | pl: metrów, metra | cs: metru | fi: metriä | vi: mét
	km: km, kilometre, kilometres, kilometer, kilometers, км, километров, キロメートル, 公里, 킬로미터 | fr: kilomètres | es: kilómetros | it: chilometri | pl: kilometrów
	cm: cm, centimetre, centimetres, centimeter, centimeters
	mm: mm, millimetre, millimetres, millimeter, millimeters
	mi: mi, mile, miles
	ft: ft, foot, feet
	in: inch, inches
	yd: yd, yard, yards
	nmi: nautical mile, nautical miles, nmi
	km2: km², km2, sq km, square kilometre, square kilometres, square kilometer, square kilometers, 平方キロメートル, 平方公里 | de: quadratkilometer | fr: kilomètres carrés | es: kilómetros cuadrados | it: chilometri quadrati | nl: vierkante kilometer
	m2: m², m2, square metre, square metres, square meter, square meters, 平方メートル, 平方米 | de: quadratmeter | fr: mètres carrés | es: metros cuadrados | it: metri quadrati | pt: metros quadrados | nl: vierkante meter
	mi2: square mile, square miles
	ha: ha, hectare, hectares | de sv da: hektar
	acre: acre, acres
	m3: m³, m3, cubic metre, cubic metres, cubic meter, cubic meters
	l: l, litre, litres, liter, liters
	ml: ml, millilitre, millilitres, milliliter, milliliters
	kg: kg, kilogram, kilograms, kilogramme, kilogrammes, kilo, kilos
	g: g, gram, grams, gramme, grammes
	mg: mg, milligram, milligrams
	t: t, tonne, tonnes, metric tons, metric ton, ton, тонн, тонны, тонна, тоннах, トン, 吨, 噸, 톤 | de: tonnen | it: tonnellate | es pt: toneladas
	ton: tons
	oz: oz, ounce, ounces
	°C: °c, degrees celsius, degree celsius, celsius | de: grad celsius
	°F: °f, degrees fahrenheit, fahrenheit
	W: watt, watts
	kW: kw, kilowatt, kilowatts
	MW: mw, megawatt, megawatts
	GW: gw, gigawatt, gigawatts
	TW: tw, terawatt, terawatts
	kWh: kwh, kilowatt hours, kilowatt-hours
	MWh: mwh, megawatt hours, megawatt-hours
	GWh: gwh, gigawatt hours, gigawatt-hours
	TWh: twh, terawatt hours, terawatt-hours
	Hz: hz, hertz
	kHz: khz
	MHz: mhz
	GHz: ghz
	kB: kb, kilobyte, kilobytes
	MB: mb, megabyte, megabytes
	GB: gb, gigabyte, gigabytes
	TB: tb, terabyte, terabytes
	ms: ms, millisecond, milliseconds
	s: s, second, seconds, sec, секунд, 秒, 초 | de: sekunden | fr: secondes | es pt: segundos | it: secondi
	min: minute, minutes, min, mins, минут, 分, 分钟, 분 | de nl: minuten | es pt: minutos | it: minuti | pl sv: minut
	h: h, hour, hours, hr, hrs, часов, часа, 時間, 小时, 시간 | de: stunde, stunden | fr: heure, heures | es pt: hora, horas | it: ora, ore | nl: uur | sv: timmar | pl: godzin
	d: day, days, дней, дня, 日, 日間, 天, 일 | de: tag, tage, tagen | fr: jour, jours | es: día, días | it: giorno, giorni | pt: dia, dias | nl sv da: dag, dagen, dagar | pl: dni
	wk: week, weeks, недель, недели, 週間, 周, 주 | de: woche, wochen | fr: semaine, semaines | es pt: semana, semanas | it: settimana, settimane | nl: weken | sv: veckor | pl: tygodni
	mo: month, months, месяцев, месяца, か月, ヶ月, 个月, 개월 | de: monat, monate, monaten | fr: mois | es pt: mes, meses | it: mese, mesi | nl: maand, maanden | sv: månader | pl: miesięcy
	yr: year, years, лет, года, год, 年, 年間, 岁, 歳, 년 | de: jahr, jahre, jahren | fr: an, ans, année, années | es: año, años | it: anno, anni | pt: ano, anos | nl: jaar | sv da: år | pl: lat, lata | cs: rok, roku
	decades: decade, decades
	km/h: km/h, kmh, kph, kilometres per hour, kilometers per hour
	mph: mph, miles per hour
	m/s: m/s
	kn: knot, knots
	ppm: ppm, parts per million
	bp: basis point, basis points, bps
	cent: cent, cents, ¢
	THB: baht
	BTC: bitcoin, bitcoins, btc
	dB: db, decibel, decibels
	hPa: hpa
	µg: µg, mcg, microgram, micrograms
`

// magnitudes are words that multiply a number, as powers of ten.
var magnitudes = sync.OnceValue(func() lexicon[int] {
	table := lexicon[int]{}
	for power, list := range map[int]string{
		2:  "hundred",
		3:  "thousand, thousands, тыс, тыс., тысяч, тысячи, χιλιάδες, ألف, אלף, हज़ार, 千, พัน | de: tausend | fr it: mille | es pt: mil | it: mila | nl: duizend | sv da: tusen | pl: tys., tysięcy | cs: tisíc | fi: tuhat, tuhatta | tr: bin | id: ribu",
		4:  "万, 萬, 만",
		5:  "लाख, lakh",
		6:  "million, millions, mn, mln, mio, mio., млн, миллион, миллиона, миллионов, мільйон, мільйона, мільйонів, εκατομμύρια, مليون, מיליון, 百万, 百萬, ล้าน | de: millionen | es: millón, millones | it: milione, milioni | pt: milhão, milhões | nl: miljoen | sv: miljon, miljoner | da: millioner | pl: milion, miliona, milionów, miliony | cs: milionu | fi: miljoonaa | tr: milyon | vi: triệu | id: juta",
		7:  "करोड़, crore",
		8:  "億, 亿, 억",
		9:  "billion, billions, bn, bln, mrd, mrd., млрд, миллиард, миллиарда, миллиардов, мільярд, мільярда, мільярдів, δισεκατομμύρια, مليار, מיליארד, अरब, 十億, 十亿, พันล้าน | de: milliarde, milliarden | fr: milliard, milliards | es: mil millones | it: miliardo, miliardi | pt: mil milhões, bilhão, bilhões | nl: miljard | sv: miljarder | da: milliarder | pl: miliard, miliarda, miliardów, miliardy | cs: miliardu | fi: miljardia | tr: milyar | vi: tỷ | id: miliar",
		15: "quadrillion, quadrillions",
		18: "quintillion, quintillions",
		12: "trillion, trillions, tn, trn, 兆, 조 | de: billionen",
	} {
		table.add(list, power)
	}
	return table
})

// shortMagnitudes stand directly after a number, as they are written. For the
// small m and b, which may be units, see [reader.attached].
var shortMagnitudes = map[string]int{"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "bn": 9, "mn": 6, "tn": 12, "Bn": 9, "Mn": 6, "BN": 9, "MN": 6, "mln": 6, "mio": 6, "mrd": 9, "m": 6, "b": 9}
