package source

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// The phrases by which pages say what they are, in lower case, one to a line.
// They are looked for in titles, headings and the text of short pages only: an
// article about a phrase is not an example of it.

func phraseList(lines string) func() []string {
	return sync.OnceValue(func() []string { return phrasesIn(lines) })
}

func phrasesIn(lines string) []string {
	var list []string
	for line := range strings.SplitSeq(lines, "\n") {
		if line = lowerPhrase(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// search finds the first of its phrases in one pass over a text, however many
// phrases it has. Each has three bytes or more.
type search struct {
	phrases []string
	begins  [1 << searchBits / 8]byte // a bit for the key of each beginning
	from    map[uint32][]int          // by that key, which phrases begin so
}

// searchBits is the size of a key: with 16 bits few places of a text have the key
// of a phrase, and the table of a list is small.
const searchBits = 16

// searchKey is the key of three bytes, the first of them in the highest place.
func searchKey(three uint32) uint32 {
	return (three & 0xffffff) * 0x9e3779b1 >> (32 - searchBits)
}

func searchFor(lines string) func() *search {
	return sync.OnceValue(func() *search {
		s := &search{phrases: phrasesIn(lines), from: map[uint32][]int{}}
		for i, phrase := range s.phrases {
			key := searchKey(uint32(phrase[0])<<16 | uint32(phrase[1])<<8 | uint32(phrase[2]))
			s.begins[key/8] |= 1 << (key % 8)
			s.from[key] = append(s.from[key], i)
		}
		return s
	})
}

// in is the first phrase of the list that a text holds anywhere.
func (s *search) in(text string) (string, bool) {
	first := len(s.phrases)
	var three uint32
	for at := range len(text) {
		three = three<<8 | uint32(text[at])
		key := searchKey(three)
		if s.begins[key/8]&(1<<(key%8)) == 0 || at < 2 {
			continue
		}
		for _, i := range s.from[key] {
			if i < first && strings.HasPrefix(text[at-2:], s.phrases[i]) {
				first = i
			}
		}
	}
	if first == len(s.phrases) {
		return "", false
	}
	return s.phrases[first], true
}

// notFoundNames are what a page that does not exist calls itself.
var notFoundNames = phraseList(`
404
404 error
404 page
404 not found
error 404
erreur 404
fehler 404
errore 404
erro 404
ошибка 404
http 404
not found
page not found
file not found
article not found
the page cannot be found
the page you requested was not found
page cannot be found
page could not be found
page can't be found
page doesn't exist
page does not exist
this page doesn't exist
this page does not exist
this page isn't available
this page is not available
page no longer exists
page is no longer available
we couldn't find that page
we couldn't find this page
we can't find that page
we can't find the page you're looking for
we couldn't find the page you were looking for
sorry, this page isn't available
sorry, page not found
nothing found
nothing here
no such page
no such article
story not found
post not found
document not found
content not found
resource not found
video unavailable
this video isn't available anymore
this video is no longer available
this story is no longer available
sorry, this story is no longer available
this article is no longer available
this content is no longer available
this post is no longer available
seite nicht gefunden
seite wurde nicht gefunden
die seite wurde nicht gefunden
die angeforderte seite wurde nicht gefunden
diese seite existiert nicht
seite existiert nicht
page non trouvée
page introuvable
page inexistante
cette page n'existe pas
cette page n'existe plus
la page demandée n'existe pas
página no encontrada
página no existe
la página no existe
esta página no existe
no se ha encontrado la página
no encontramos la página
pagina non trovata
la pagina non esiste
questa pagina non esiste
página não encontrada
página não existe
esta página não existe
pagina niet gevonden
deze pagina bestaat niet
de pagina bestaat niet
nie znaleziono strony
strona nie istnieje
strona nie została znaleziona
sidan hittades inte
sidan kunde inte hittas
sidan finns inte
siden blev ikke fundet
siden findes ikke
siden ble ikke funnet
siden finnes ikke
fant ikke siden
sivua ei löydy
sivua ei löytynyt
stránka nenalezena
stránka nebyla nalezena
stránka neexistuje
stránka sa nenašla
az oldal nem található
a keresett oldal nem található
pagina nu a fost găsită
pagina nu există
страница не найдена
страница не существует
сторінку не знайдено
сторінка не існує
страницата не е намерена
stranica nije pronađena
stran ni najdena
lehte ei leitud
lapa nav atrasta
puslapis nerastas
η σελίδα δεν βρέθηκε
η σελίδα δεν υπάρχει
sayfa bulunamadı
aradığınız sayfa bulunamadı
trang không tồn tại
không tìm thấy trang
halaman tidak ditemukan
laman tidak ditemui
ไม่พบหน้า
ไม่พบหน้าที่คุณต้องการ
ページが見つかりません
お探しのページは見つかりません
お探しのページは見つかりませんでした
ページは存在しません
页面不存在
页面未找到
找不到页面
您访问的页面不存在
頁面不存在
找不到網頁
找不到頁面
페이지를 찾을 수 없습니다
요청하신 페이지를 찾을 수 없습니다
존재하지 않는 페이지입니다
الصفحة غير موجودة
لم يتم العثور على الصفحة
הדף לא נמצא
העמוד לא נמצא
صفحه یافت نشد
صفحه پیدا نشد
صفحه مورد نظر یافت نشد
पृष्ठ नहीं मिला
पेज नहीं मिला
পৃষ্ঠা পাওয়া যায়নি
pàgina no trobada
la pàgina no existeix
síða fannst ekki
síðan fannst ekki
stranica ne postoji
tražena stranica ne postoji
страница није пронађена
страницата не е пронајдена
páxina non atopada
orria ez da aurkitu
tudalen heb ei chanfod
níor aimsíodh an leathanach
faqja nuk u gjet
səhifə tapılmadı
бет табылмады
გვერდი ვერ მოიძებნა
էջը չի գտնվել
صفحہ نہیں ملا
பக்கம் கிடைக்கவில்லை
పేజీ కనబడలేదు
पृष्ठ सापडले नाही
halaman tidak dijumpai
hindi nahanap ang pahina
ukurasa haukupatikana
bladsy nie gevind nie
il-paġna ma nstabitx
stránka nebola nájdená
strani ni mogoče najti
stran ne obstaja
`)

// notFoundPaths are the last parts of addresses to which error pages redirect.
var notFoundPaths = phraseList(`
404
404.html
404.htm
404.php
404.aspx
error404
not-found
notfound
page-not-found
pagenotfound
error-404
`)

// parkedPhrases are what pages say of a domain that is for sale.
var parkedPhrases = searchFor(`
this domain is for sale
this domain may be for sale
this domain name is for sale
the domain is for sale
domain for sale
buy this domain
is this your domain
inquire about this domain
make an offer on this domain
domain is parked
parked domain
parked free, courtesy of
this domain is parked
this web page is parked
this domain has expired
this domain name has expired
the domain has expired
domain has been registered
this domain was recently registered
future home of something quite cool
the sponsored listings displayed above
related searches
diese domain steht zum verkauf
diese domain kaufen
domain kaufen
domain zu verkaufen
diese domain ist geparkt
ce domaine est à vendre
ce nom de domaine est à vendre
acheter ce domaine
este dominio está en venta
este dominio está a la venta
comprar este dominio
questo dominio è in vendita
este domínio está à venda
dit domein is te koop
deze domeinnaam is te koop
ta domena jest na sprzedaż
domena na sprzedaż
domänen är till salu
domenet er til salgs
домен продается
домен продаётся
этот домен продается
bu alan adı satılık
このドメインは販売中
このドメインは売り出し中
本域名出售
该域名正在出售
域名出售
이 도메인은 판매
has expired and is pending
pending renewal or deletion
`)

// placeholderNames are what servers and hosts call a site that is not there yet,
// or no longer.
var placeholderNames = phraseList(`
welcome to nginx
welcome to nginx!
welcome to openresty
welcome to caddy
it works
apache2 debian default page
apache2 ubuntu default page
apache http server test page
test page for the apache http server
iis windows server
iis windows
internet information services
domain default page
default web site page
default plesk page
account suspended
this account has been suspended
website suspended
this site has been suspended
coming soon
website coming soon
site under construction
this site is under construction and coming soon
under construction
website under construction
site en construction
sitio en construcción
sito in costruzione
site em construção
hier entsteht eine neue internetpräsenz
diese website wurde soeben freigeschaltet
domain expired
domain suspended
index page
website expired
site expired
this account has expired
website not published
this site isn't published
site not configured
your app is ready
your site is ready
there's nothing here, yet
there's nothing here yet
nothing here yet
`)

// siteWords are parts of words by which a page speaks of itself and of what it is
// made with.
var siteWords = searchFor(`
site
domain
server
hosting
account
internetpräsenz
sitio
sito
página
pagina
deploy
working on it
`)

// domainWords are the words for a domain name.
var domainWords = searchFor(`
domain
domein
dominio
domínio
domaine
domän
domæne
domene
domen
doména
domeniu
домен
ドメイン
域名
網域
도메인
tên miền
alan adı
โดเมน
דומיין
نطاق
دامنه
डोमेन
`)

// parkingHosts are services that park and sell domains.
var parkingHosts = phraseList(`
sedoparking.com
sedo.com
parkingcrew.net
bodis.com
hugedomains.com
dan.com
afternic.com
above.com
parklogic.com
domainmarket.com
undeveloped.com
dynadot.com
uniregistry.com
skenzo.com
voodoo.com
parkweb.cc
`)

// botWallNames are what pages that let only people through call themselves.
var botWallNames = phraseList(`
just a moment
attention required!
access denied
access to this page has been denied
pardon our interruption
are you a robot?
are you a robot
robot check
bot verification
human verification
making sure you're not a bot
security check
security verification
verify you are human
verifying you are human
checking your browser
checking your browser before accessing
client challenge
captcha
ddos-guard
please verify you are a human
unusual traffic
one moment, please
einen moment bitte
nur einen moment
un instant
un momento
um momento
attendere prego
еще одно мгновение
один момент
проверка браузера
しばらくお待ちください
请稍候
安全验证
安全检查
人机验证
安全驗證
안전 확인
잠시만 기다려 주십시오
security checkpoint
browser check
vérification de sécurité
verificación de seguridad
verifica di sicurezza
verificação de segurança
sicherheitsüberprüfung
beveiligingscontrole
проверка безопасности
bot manager captcha
`)

// botWallPhrases are what such pages ask for.
var botWallPhrases = searchFor(`
enable javascript and cookies to continue
verify you are human
verify that you are human
verify that you are not a robot
verify you are not a robot
verifying you are human
confirm you are human
confirm that you are not a robot
prove you are human
prove that you are not a robot
checking your browser before accessing
checking if the site connection is secure
needs to review the security of your connection
press & hold to confirm you are
unusual traffic from your computer network
request unsuccessful. incapsula incident id
incapsula incident id
please complete the security check
why have i been blocked
your request has been blocked
automated access to this
we have detected unusual activity
performance & security by cloudflare
making sure you're not a bot
against the scourge of ai companies
to confirm you're not a robot
to continue, please confirm
dass sie kein roboter sind
sie ein mensch sind
ihren browser wird überprüft
que vous n'êtes pas un robot
que vous êtes un humain
que no eres un robot
que no es un robot
que eres humano
que non sei un robot
che non sei un robot
que você não é um robô
dat u geen robot bent
że nie jesteś robotem
att du inte är en robot
что вы не робот
а не робот
похожи на автоматические
що ви не робот
вы не робот
ロボットではないことを確認
私はロボットではありません
确认您不是机器人
请完成安全验证
完成下方验证
请完成验证
拖动滑块
访问过于频繁
验证您是真人
로봇이 아닙니다
لست روبوت
reference #
enable js and disable any ad blocker
verifying your browser
verify your browser
connection needs to be verified
not a robot
not a bot
you are a bot
you were a bot
solve this captcha
solve the captcha
complete the captcha
kein roboter
pas un robot
être humain en
no eres un robot
eres una persona
non sei un robot
não é um robô
geen robot
inte är en robot
ikke er en robot
ikke en robot
et ole robotti
robot değil
không phải là robot
bukan robot
ไม่ใช่หุ่นยนต์
לא רובוט
रोबोट नहीं
ロボットではない
ロボットではありません
不是机器人
不是機器人
로봇이 아닙
sorry, you have been blocked
you have been blocked by
you have been blocked from
`)

// loginNames are what login pages call themselves.
var loginNames = phraseList(`
log in
login
log on
logon
sign in
signin
sign on
sign in to your account
log in to your account
log in to continue
sign in to continue
please log in
please sign in
member login
user login
account login
authentication required
single sign-on
sso login
welcome back
anmelden
anmeldung
einloggen
bitte anmelden
connexion
se connecter
identification
connectez-vous
iniciar sesión
inicia sesión
inicio de sesión
acceder a tu cuenta
identifícate
accedi
accesso
effettua il login
entrar
iniciar sessão
fazer login
faça login
inloggen
aanmelden
zaloguj się
logowanie
zaloguj
logga in
log ind
logg inn
kirjaudu
kirjaudu sisään
přihlášení
přihlásit se
prihlásenie
bejelentkezés
autentificare
conectare
войти
вход
вход в систему
авторизация
увійти
вхід
вход в профила
prijava
prijavi se
σύνδεση
είσοδος
giriş
giriş yap
oturum aç
đăng nhập
masuk
log masuk
เข้าสู่ระบบ
ログイン
サインイン
登录
登入
用户登录
請登入
로그인
تسجيل الدخول
دخول
התחברות
כניסה
ورود
लॉग इन
लॉगिन
লগইন
`)

// loginPaths are parts of addresses at which readers log in.
var loginPaths = phraseList(`
login
login.php
login.html
login.aspx
login.jsp
log-in
signin
sign-in
sign_in
signon
logon
wp-login.php
authorize
sso
saml
saml2
oauth
oauth2
auth
authenticate
cas
idp
connexion
anmelden
anmeldung
acceso
entrar
`)

// consentNames are what pages that ask for consent call themselves.
var consentNames = phraseList(`
before you continue
before you continue to google
before you continue to youtube
cookie consent
cookie settings
cookie preferences
your privacy choices
your privacy
we value your privacy
we care about your privacy
privacy settings
manage consent
consent
bevor sie fortfahren
bevor sie zu google weitergehen
bevor sie zu youtube weitergehen
cookie-einstellungen
datenschutzeinstellungen
ihre privatsphäre
einwilligung
avant de continuer
avant d'accéder à google
nous respectons votre vie privée
paramètres des cookies
gestion des cookies
antes de continuar
tu privacidad
configuración de cookies
prima di continuare
impostazioni dei cookie
voordat je verdergaat
cookie-instellingen
zanim przejdziesz
ustawienia plików cookie
innan du fortsätter
прежде чем продолжить
続行する前に
继续前须知
`)

// consentWords are parts of words by which a sentence asks for consent.
var consentWords = searchFor(`
cookie
куки
クッキー
쿠키
ملفات تعريف
עוגיות
คุกกี้
consent
zustimm
einwillig
consentement
consentimiento
consenso
consentimento
toestemming
zgod
samtyck
samtykke
suostumu
souhlas
súhlas
hozzájárul
consimțământ
согласи
згод
συγκατάθεση
rıza
onay
đồng ý
persetujuan
ยินยอม
同意
동의
موافق
הסכמ
सहमति
privacy
datenschutz
vie privée
privacidad
privacidade
プライバシー
隐私
隱私
개인정보
`)

// paywallPhrases ask for a subscription before the rest may be read.
var paywallPhrases = searchFor(`
subscribe to continue
subscribe to read
subscribe to unlock
subscribe now to read
subscribe for full access
to continue reading
to keep reading
to read the full article
to read the full story
to read this article
this article is for subscribers
this content is for subscribers
this story is for subscribers
subscriber-only
exclusive to subscribers
available to subscribers
become a member to read
this is a premium article
you have reached your article limit
you have read your last free article
free articles left
purchase this article
get access to the full version
nur für abonnenten
nur mit abo
mit einem abo
jetzt weiterlesen
um weiterzulesen
weiterlesen mit
dieser artikel ist kostenpflichtig
exklusiv für abonnenten
réservé aux abonnés
réservé à nos abonnés
article réservé
abonnez-vous pour lire
pour lire la suite
il vous reste à lire
il vous reste
solo para suscriptores
exclusivo para suscriptores
suscríbete para seguir leyendo
suscríbete para leer
para seguir leyendo
riservato agli abbonati
abbonati per continuare
per continuare a leggere
exclusivo para assinantes
conteúdo exclusivo para assinantes
assine para continuar
alleen voor abonnees
om verder te lezen
tylko dla subskrybentów
dla prenumeratorów
aby czytać dalej
för prenumeranter
endast för prenumeranter
läs vidare
for abonnenter
kun for abonnenter
vain tilaajille
pouze pro předplatitele
csak előfizetőknek
doar pentru abonați
только для подписчиков
доступно подписчикам
оформите подписку, чтобы
лише для передплатників
μόνο για συνδρομητές
sadece abonelere
chỉ dành cho thuê bao
会員限定
有料会員限定
この記事は有料
続きを読むには
订阅后继续阅读
订阅以继续阅读
仅限订阅用户
會員專屬
訂閱後繼續閱讀
구독자 전용
유료 회원 전용
للمشتركين فقط
למנויים בלבד
केवल सदस्यों के लिए
continue reading with
unlock this article
unlock this story
unlock the full
for paid subscribers
paid subscribers only
to members only
access options
buy this article
buy article
rent this article
access through your institution
access via your institution
læs videre med
les videre med
jatka lukemista
citește mai departe cu
devamını okumak için
pour continuer la lecture
lire la suite avec
sigue leyendo con
continua a leggere con
continue lendo com
lees verder met
czytaj dalej z
limit of free articles
for unlimited access
members-only
member-only
to view the full content
you will need to purchase
`)

// paywallLabels say by themselves that something is not for everybody. In a longer
// sentence they may say it of a reading room.
var paywallLabels = searchFor(`
subscribers only
members only
`)

// subscriberPhrases ask readers whether they have a subscription.
var subscriberPhrases = searchFor(`
already a subscriber
sie sind bereits abonnent
sie haben bereits ein abo
déjà abonné
ya eres suscriptor
sei già abbonato
já é assinante
al abonnee
already a paid subscriber
allerede abonnent
redan prenumerant
`)

// subscribeWords are parts of words about subscriptions.
var subscribeWords = searchFor(`
subscri
abonn
abonnement
mit abo
suscri
abbon
assin
subskry
prenumer
předplat
předplatné
előfizet
подпис
передплат
συνδρομ
abone
購読
有料
订阅
訂閱
구독
اشترا
מנוי
`)

func beginsLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !page.IsDense(r)
}

func endsLetter(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !page.IsDense(r)
}
