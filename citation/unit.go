package citation

import (
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

// unitWords are words that stand after a number, in lower case. A word of one
// letter is a symbol and is compared as it is written.
var unitWords = sync.OnceValue(func() map[string]unit {
	words := map[string]unit{}
	for line := range strings.SplitSeq(unitTable, "\n") {
		name, list, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			continue
		}
		for w := range strings.SplitSeq(list, ",") {
			words[strings.TrimSpace(w)] = unit(name)
		}
	}
	return words
})

const unitTable = `
	%: %, ％, ٪, percent, per cent, pct, prozent, procent, procento, procenta, prosent, prosenttia, pour cent, por ciento, por cento, per cento, percento, persen, phần trăm, процент, процента, процентов, проценты, відсоток, відсотка, відсотків, відсотки, τοις εκατό, パーセント, 퍼센트, अंश प्रतिशत, प्रतिशत, אחוז, אחוזים, في المئة, بالمئة, بالمائة
	pp: percentage point, percentage points, prozentpunkt, prozentpunkte, prozentpunkten, points de pourcentage, pp
	‰: ‰, per mille, per mil, promille
	$: dollar, dollars
	USD: us dollar, us dollars, u.s. dollars, american dollars
	AUD: australian dollars
	CAD: canadian dollars
	EUR: euro, euros, eur, euroa, eura, eur., евро, євро, ευρώ, ユーロ, 유로, 欧元, 歐元, يورو, אירו, यूरो, ยูโร
	pound: pound, pounds
	GBP: pounds sterling, quid
	lb: lb, lbs
	JPY: yen, 円, 엔, 日元
	CNY: yuan, renminbi, 元, 人民币
	INR: rupee, rupees
	RUB: rouble, roubles, ruble, rubles, рублей, рубля
	CHF: swiss franc, swiss francs, franken
	SEK: kronor
	KRW: won, 원
	m: m, metre, metres, meter, meters, mètre, mètres, metro, metros, metri, metrów, metra, metru, metriä, метр, метра, метров, метрів, μέτρα, メートル, 米, 미터, มิเตอร์, เมตร, मीटर, متر, أمتار, מטרים, mét
	km: km, kilometre, kilometres, kilometer, kilometers, kilomètres, kilómetros, chilometri, kilometrów, км, километров, キロメートル, 公里, 킬로미터
	cm: cm, centimetre, centimetres, centimeter, centimeters
	mm: mm, millimetre, millimetres, millimeter, millimeters
	mi: mi, mile, miles
	ft: ft, foot, feet
	in: inch, inches
	yd: yd, yard, yards
	nmi: nautical mile, nautical miles, nmi
	km2: km², km2, sq km, square kilometre, square kilometres, square kilometer, square kilometers, quadratkilometer, kilomètres carrés, kilómetros cuadrados, chilometri quadrati, vierkante kilometer, 平方キロメートル, 平方公里
	m2: m², m2, square metre, square metres, square meter, square meters, quadratmeter, mètres carrés, metros cuadrados, metri quadrati, metros quadrados, vierkante meter, 平方メートル, 平方米
	mi2: square mile, square miles
	ha: ha, hectare, hectares, hektar
	acre: acre, acres
	m3: m³, m3, cubic metre, cubic metres, cubic meter, cubic meters
	l: l, litre, litres, liter, liters
	ml: ml, millilitre, millilitres, milliliter, milliliters
	kg: kg, kilogram, kilograms, kilogramme, kilogrammes, kilo, kilos
	g: g, gram, grams, gramme, grammes
	mg: mg, milligram, milligrams
	t: t, tonne, tonnes, metric tons, metric ton, tonnen, tonnellate, toneladas, ton, тонн, тонны, тонна, тоннах, トン, 吨, 噸, 톤
	ton: tons
	oz: oz, ounce, ounces
	°C: °c, degrees celsius, degree celsius, celsius, grad celsius
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
	s: s, second, seconds, sec, sekunden, secondes, segundos, secondi, секунд, 秒, 초
	min: minute, minutes, min, mins, minuten, minutos, minuti, minut, минут, 分, 分钟, 분
	h: h, hour, hours, hr, hrs, stunde, stunden, heure, heures, hora, horas, ora, ore, uur, timmar, godzin, часов, часа, 時間, 小时, 시간
	d: day, days, tag, tage, tagen, jour, jours, día, días, giorno, giorni, dia, dias, dag, dagen, dagar, dni, дней, дня, 日, 日間, 天, 일
	wk: week, weeks, woche, wochen, semaine, semaines, semana, semanas, settimana, settimane, weken, veckor, tygodni, недель, недели, 週間, 周, 주
	mo: month, months, monat, monate, monaten, mois, mes, meses, mese, mesi, maand, maanden, månader, miesięcy, месяцев, месяца, か月, ヶ月, 个月, 개월
	yr: year, years, jahr, jahre, jahren, an, ans, année, années, año, años, anno, anni, ano, anos, jaar, år, lat, lata, лет, года, год, rok, roku, 年, 年間, 岁, 歳, 년
	km/h: km/h, kmh, kph, kilometres per hour, kilometers per hour
	mph: mph, miles per hour
	m/s: m/s
	kn: knot, knots
	ppm: ppm, parts per million
	dB: db, decibel, decibels
	hPa: hpa
	µg: µg, mcg, microgram, micrograms
`

// magnitudes are words that multiply a number, as powers of ten.
var magnitudes = map[string]int{
	"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12,
	"thousands": 3, "millions": 6, "billions": 9, "trillions": 12,
	"mn": 6, "mln": 6, "mio": 6, "mio.": 6, "bn": 9, "bln": 9, "mrd": 9, "mrd.": 9, "tn": 12, "trn": 12,
	"tausend": 3, "millionen": 6, "milliarde": 9, "milliarden": 9, "billionen": 12,
	"mille": 3, "milliard": 9, "milliards": 9,
	"mil": 3, "millón": 6, "millones": 6, "mil millones": 9,
	"mila": 3, "milione": 6, "milioni": 6, "miliardo": 9, "miliardi": 9,
	"milhão": 6, "milhões": 6, "mil milhões": 9, "bilhão": 9, "bilhões": 9,
	"duizend": 3, "miljoen": 6, "miljard": 9,
	"tusen": 3, "miljon": 6, "miljoner": 6, "miljarder": 9, "millioner": 6, "milliarder": 9,
	"tys.": 3, "tysięcy": 3, "milion": 6, "miliona": 6, "milionów": 6, "miliony": 6, "miliard": 9, "miliarda": 9, "miliardów": 9, "miliardy": 9,
	"tisíc": 3, "milionu": 6, "miliardu": 9,
	"tuhat": 3, "tuhatta": 3, "miljoonaa": 6, "miljardia": 9,
	"bin": 3, "milyon": 6, "milyar": 9,
	"тыс": 3, "тыс.": 3, "тысяч": 3, "тысячи": 3, "млн": 6, "миллион": 6, "миллиона": 6, "миллионов": 6, "млрд": 9, "миллиард": 9, "миллиарда": 9, "миллиардов": 9,
	"мільйон": 6, "мільйона": 6, "мільйонів": 6, "мільярд": 9, "мільярда": 9, "мільярдів": 9,
	"χιλιάδες": 3, "εκατομμύρια": 6, "δισεκατομμύρια": 9,
	"triệu": 6, "tỷ": 9, "ribu": 3, "juta": 6, "miliar": 9,
	"ألف": 3, "مليون": 6, "مليار": 9, "אלף": 3, "מיליון": 6, "מיליארד": 9, "हज़ार": 3, "लाख": 5, "करोड़": 7, "अरब": 9, "lakh": 5, "crore": 7,
	"万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12, "千": 3, "百万": 6, "百萬": 6, "十億": 9, "十亿": 9, "만": 4, "억": 8, "조": 12, "พัน": 3, "ล้าน": 6, "พันล้าน": 9,
}

// shortMagnitudes stand directly after a number, as they are written. Of the
// small m and b that may be a unit, see [reader.attached].
var shortMagnitudes = map[string]int{"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "bn": 9, "mn": 6, "tn": 12, "Bn": 9, "Mn": 6, "BN": 9, "MN": 6, "mln": 6, "mio": 6, "mrd": 9, "m": 6, "b": 9}
