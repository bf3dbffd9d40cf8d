package planted

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"strings"
)

// unseen plants pages that were written after the rules, to see how well the rules
// work beyond the pages they were made with. docs/evidence.md has that score.
func (b *builder) unseen() {
	for i, w := range unseenWalls {
		s := b.newSite("www.")
		given := w.cited
		if given == "" {
			given = articleOf(i).title
		}
		answer := page(cmp.Or(w.status, http.StatusOK), fmt.Sprintf("<!DOCTYPE html><html><head><title>%s</title>%s</head><body>%s</body></html>", put(w.title, s.host), w.head, put(w.body, s.host)))
		switch {
		case strings.HasPrefix(w.to, "/"):
			answer = redirect(302, s.at("https", w.to, answer))
		case w.to != "":
			host, path, _ := strings.Cut(w.to, "/")
			answer = redirect(302, b.siteAt(host).at("https", "/"+path, answer))
		}
		b.plant(w.kind, w.variant, s.at("https", path(i, given), answer), given)
	}
	for i, p := range unseenHonest {
		s := b.newSite("")
		body := p.before
		for _, sentence := range p.sentences {
			body += "<p>" + html.EscapeString(sentence) + "</p>\n"
		}
		planted := b.plant(Honest, p.variant, s.at("https", path(300+i, p.cited), page(http.StatusOK,
			fmt.Sprintf("<!DOCTYPE html><html><head><title>%s</title></head><body>%s%s</body></html>", html.EscapeString(p.title), body, p.after))), p.cited)
		planted.Sentences = p.sentences
	}
}

// unseenWalls are pages in place of the one that was cited.
var unseenWalls = []struct {
	kind, variant, cited, title, head, body string
	to                                      string // where a redirect leads, a path or a host with a path
	status                                  int    // 0 stands for 200
}{
	{kind: "soft_404", variant: "a blog platform with other stories", title: "Lantern", body: `<header><a>Lantern</a><a>Write</a><a>Get app</a></header><p>PAGE NOT FOUND</p><h1>404</h1><h2>Out of nothing, something.</h2><p>You can find (just about) anything on Lantern — apparently even a page that doesn’t exist. Maybe these stories will take you somewhere new?</p><ul><li>What I learned from a year without a phone<li>The quiet art of sharpening knives<li>Seven mornings in Lisbon</ul>`},
	{kind: "soft_404", variant: "a government site", title: "Page not found - Ministry of Works", body: `<nav>Benefits Births Business</nav><main><h1>Page not found</h1><p>If you typed the web address, check it is correct.</p><p>If you pasted the web address, check you copied the entire address.</p><p>If the web address is correct or you selected a link or button, <a>contact the Ministry</a> to speak to someone and get help.</p></main>`},
	{kind: "soft_404", variant: "something is missing", title: "Oops!", body: `<h1>Oops, something’s missing</h1><p>The page you’re looking for isn’t here. It may have moved, or it never existed.</p><a>Take me home</a>`},
	{kind: "soft_404", variant: "a search engine's", title: "Error 404 (Not Found)!!1", body: `<p><b>404.</b> <ins>That’s an error.</ins></p><p>The requested URL /reports/tides was not found on this server. <ins>That’s all we know.</ins></p>`},
	{kind: "soft_404", variant: "a job that is gone", cited: "Tide gauge technician, Harbour Office", title: "Job expired | Vacancies", body: `<h1>This job is no longer available</h1><p>The position you are looking for has been filled or removed.</p><ul><li>Similar jobs<li>Create a job alert</ul>`},
	{kind: "soft_404", variant: "a social network", title: "Chirp", body: `<div>Hmm...this page doesn’t exist. Try searching for something else.</div><button>Search</button>`},
	{kind: "soft_404", variant: "a data portal", cited: "Sea level readings, dataset 4711", title: "Data portal", body: `<nav>Home Datasets About</nav><h1>Dataset not found</h1><p>The dataset you requested does not exist or is not public.</p>`},
	{kind: "soft_404", variant: "a site that was deleted", title: "{host} is no longer available", body: `<h1>{host} is no longer available.</h1><p>The authors have deleted this site.</p>`},
	{kind: "soft_404", variant: "Catalan", title: "Pàgina no trobada", body: `<h1>Pàgina no trobada</h1><p>La pàgina que busqueu no existeix o ha canviat d'adreça.</p>`},
	{kind: "soft_404", variant: "Icelandic", title: "Síða fannst ekki", body: `<h1>Síða fannst ekki</h1><p>Síðan sem þú leitar að er ekki til. Athugaðu slóðina.</p>`},
	{kind: "soft_404", variant: "Croatian", title: "Greška 404", body: `<h1>Stranica ne postoji</h1><p>Tražena stranica ne postoji ili je premještena na drugu adresu.</p>`},
	{kind: "soft_404", variant: "Dutch, with a bracket", title: "Oeps", body: `<h1>Oeps! Deze pagina bestaat niet (meer)</h1><p>Ga terug naar de homepage of gebruik de zoekfunctie.</p>`},
	{kind: "soft_404", variant: "behind a large menu", title: "Not Found | North Daily", body: `<ul>` + strings.Repeat("<li>World<li>Politics<li>Business<li>Science<li>Sport<li>Weather<li>Podcasts<li>Opinion", 12) + `</ul><h1>Sorry, we can’t find that page</h1><p>Try one of the sections above.</p>`},

	{kind: "parked", variant: "a site builder's expired account", title: "Website Expired", body: `<h1>Website Expired</h1><p>This account has expired. If you are the site owner, click below to login.</p>`},
	{kind: "parked", variant: "no site yet", title: "Connect your domain", body: `<h2>Looks Like This Domain Isn't Connected To A Website Yet!</h2><p>Is this your domain? Connect it to your website in just a few clicks.</p>`},
	{kind: "parked", variant: "a registrar", title: "{host}", body: `<h1>{host}</h1><p>This domain name has been registered with Gandi.net. It is currently parked by the owner.</p>`},
	{kind: "parked", variant: "a premium name", title: "{host} | Premium Domains", body: `<h1>{host}</h1><p>Buy this premium domain name for €1,200. Lease to own from €50 per month. Trusted by thousands of businesses.</p>`},
	{kind: "parked", variant: "an app platform", title: "Your app is ready", body: `<h1>There's nothing here, yet.</h1><p>Build something amazing. If you are the owner, deploy your application to replace this page.</p>`},
	{kind: "parked", variant: "Polish", title: "{host}", body: `<h1>Domena {host} jest utrzymywana na serwerach rejestratora</h1><p>Zarejestruj swoją domenę już dziś.</p>`},
	{kind: "parked", variant: "Portuguese, for sale", title: "{host} à venda", body: `<h1>{host}</h1><p>Este domínio pode ser seu! Faça uma oferta pelo domínio.</p>`},

	{kind: "bot_wall", variant: "a security checkpoint", title: "Security Checkpoint", body: `<p>We're verifying your browser</p><p>Website owner? Click here to fix</p><script src="/.well-known/security/static/challenge.js"></script>`, status: 429},
	{kind: "bot_wall", variant: "a forum", title: "Blocked", body: `<h1>whoa there, pardner!</h1><p>Your request has been blocked due to a network policy. Try logging in or creating an account here to get back to browsing. If you're running a script, make sure your User-Agent is not empty.</p>`, status: 403},
	{kind: "bot_wall", variant: "a shop", title: "", body: `<p>Your connection needs to be verified before you can proceed</p><div id="turnstile-wrapper"></div>`},
	{kind: "bot_wall", variant: "French", title: "Vérification de sécurité", body: `<h1>Vérification de sécurité</h1><p>Veuillez confirmer que vous êtes un être humain en cochant la case ci-dessous.</p><div class="h-captcha"></div>`},
	{kind: "bot_wall", variant: "a bot manager", title: "Bot Manager Captcha", body: `<p>We apologize for the inconvenience, but your activity and behavior on this site made us think that you are a bot. Please solve this CAPTCHA to request unblock to the website.</p><form><input name="captcha"><button>Submit</button></form>`},
	{kind: "bot_wall", variant: "Japanese", title: "確認", body: `<h1>ロボットではありませんか？</h1><p>続行するには、文字を入力してロボットではないことを証明してください。</p>`},
	{kind: "bot_wall", variant: "Spanish", title: "Verificación", body: `<h1>Verifica que eres una persona</h1><p>Hemos detectado tráfico inusual desde tu red. Completa el captcha para continuar.</p><div class="g-recaptcha"></div>`},

	{kind: "login", variant: "only a name, elsewhere", title: "Sign in to your account", body: `<div>Sign in</div><form><input type="email" placeholder="Email, phone, or Skype"><button>Next</button></form><p>No account? Create one! Can’t access your account?</p>`, to: "login.onlinesuite.com/common/oauth2/v2.0/authorize?client_id=1"},
	{kind: "login", variant: "a social network", title: "Log into Facenote", body: `<h2>Log Into Facenote</h2><p>You must log in to continue.</p><form><input type="text"><input type="password"><button>Log In</button></form><a>Forgot account?</a>`, to: "/login/?next=%2Fgroups"},
	{kind: "login", variant: "join first", title: "Sign Up | Worklink", body: `<h1>Join Worklink</h1><form><input type="email"><input type="password"><button>Agree &amp; Join</button></form><p>Already on Worklink? Sign in</p>`, to: "/authwall?trk=gf"},
	{kind: "login", variant: "a library card", title: "Library Proxy Login", body: `<h1>Library Login</h1><p>Enter your library card number and PIN for access to this resource.</p><form><input name="user"><input name="pass" type="password"><button>Login</button></form>`},
	{kind: "login", variant: "Estonian", title: "Logi sisse", body: `<h1>Logi sisse</h1><form><input type="text"><input type="password"><button>Sisene</button></form><p>Unustasid parooli?</p>`},
	{kind: "login", variant: "Bulgarian", title: "Влезте в профила си", body: `<h1>Влезте в профила си</h1><form><input type="email"><input type="password"><button>Вход</button></form><p>Забравена парола?</p>`},

	{kind: "consent", variant: "a portal's family of brands", title: "Your privacy choices", body: `<h1>We, Wahoo, are part of a family of brands</h1><p>When you use our sites and apps, we use cookies to provide our sites and apps to you, authenticate users, apply security measures, and measure your use of our sites and apps.</p><p>If you click 'Accept all', we and our 240 partners will also store and access information on a device with the use of cookies.</p><form><button>Accept all</button><button>Reject all</button><button>Manage privacy settings</button></form>`, to: "consent.wahoo.com/v2/collectConsent?sessionId=3"},
	{kind: "consent", variant: "German, pay or consent", title: "Herzlich willkommen", body: `<h1>Weiter mit Werbung lesen</h1><p>Besuchen Sie uns wie gewohnt mit Werbung und Tracking. Ihre Zustimmung können Sie jederzeit widerrufen. Details in der Datenschutzerklärung.</p><button>Zustimmen und weiter</button><h2>Pur lesen</h2><p>Ohne Cookies und Werbetracking für 4,99 Euro im Monat.</p><button>Jetzt Pur abonnieren</button>`},
	{kind: "consent", variant: "Portuguese", title: "A sua privacidade", body: `<h1>Valorizamos a sua privacidade</h1><p>Utilizamos cookies e tecnologias semelhantes para guardar e aceder a informações no seu dispositivo. Pode retirar o seu consentimento a qualquer momento.</p><button>Aceitar</button><button>Rejeitar</button>`},
	{kind: "consent", variant: "Danish", title: "Samtykke", body: `<h1>Vi passer på dine data</h1><p>Vi og vores partnere bruger cookies til at indsamle oplysninger om dig. Du kan altid trække dit samtykke til cookies tilbage.</p><button>Tillad alle</button><button>Afvis</button>`},

	{kind: "paywall", variant: "a journal", cited: "Sediment transport in macrotidal estuaries", title: "Sediment transport in macrotidal estuaries | Coastal Letters", body: `<h1>Sediment transport in macrotidal estuaries</h1><h2>Abstract</h2><p>We measured the transport of fine sediment over forty tidal cycles with moored instruments and found that the neap tides carry more than was thought.</p><h2>Access options</h2><p>Buy article: get time limited or full article access. $39.95</p><p>Access through your institution. Rent or buy this article.</p>`},
	{kind: "paywall", variant: "a members' story", title: "Measuring tides with a stilling well", cited: "Measuring tides with a stilling well", body: `<h1>Measuring tides with a stilling well</h1><p>Member-only story</p><p>The pipe stands in the harbour like a forgotten chimney.</p><p>The author made this story available to Lantern members only. Upgrade to instantly unlock this story plus other member-only benefits.</p>`},
	{kind: "paywall", variant: "a free trial", cited: "Why harbours silt up", title: "Why harbours silt up", body: `<h1>Why harbours silt up</h1><p>Every tide brings a little mud and takes a little less away.</p><h2>Explore more with a free trial</h2><p>Continue reading with a free one-month trial. Cancel at any time. Subscribe now.</p>`},
	{kind: "paywall", variant: "German, plus", cited: "Warum der Hafen verschlickt", title: "Warum der Hafen verschlickt", body: `<h1>Warum der Hafen verschlickt</h1><p>Jede Flut bringt etwas Schlick und nimmt etwas weniger mit.</p><h3>Weiterlesen mit Küste+</h3><p>Diesen Artikel weiterlesen mit Küste+. Jetzt Abo abschließen, 1 Euro für den ersten Monat, jederzeit kündbar.</p>`},
	{kind: "paywall", variant: "a newsletter", cited: "The mud letter, no. 12", title: "The mud letter, no. 12", body: `<h1>The mud letter, no. 12</h1><p>Last week I walked the whole sea wall with a spade.</p><h2>This post is for paid subscribers</h2><button>Subscribe</button><p>Already a paid subscriber? Sign in</p>`},
	{kind: "paywall", variant: "Danish", cited: "Derfor sander havnen til", title: "Derfor sander havnen til", body: `<h1>Derfor sander havnen til</h1><p>Hver flod bringer lidt slam og tager lidt mindre med sig.</p><h2>Læs videre med et abonnement</h2><p>Artiklen er kun for abonnenter. Prøv en måned for 1 krone.</p>`},

	{kind: "home_page", variant: "a start page", title: "Küstenportal", body: `<h1>Küstenportal</h1><p>Willkommen auf dem Portal der Küste mit Nachrichten, Wetter und Veranstaltungen für Gäste und Einheimische aus der ganzen Region.</p>`, to: "/de/startseite"},
	{kind: "home_page", variant: "a script at the root", title: "North Harbour", body: `<h1>North Harbour</h1><p>News, weather and events from the coast, every day, for guests and for people who live here all the year round.</p>`, to: "/index.php?lang=en"},
	{kind: "other_site", variant: "the company that bought it", title: "Globex Media | Brands that matter", body: `<h1>Brands that matter</h1><p>Globex Media reaches forty million people every month with a portfolio of magazines, events and services for advertisers in nine countries.</p>`, to: "globexmedia.com/brands/overview"},
	{kind: "title", variant: "a number of the same journal", cited: "Zinc finger nucleases, maize breeding", title: "Coastal Letters, volume 12", body: `<h1>Coastal Letters, volume 12</h1><p>This issue has five papers on salt marshes, two on seagrass meadows, and an obituary of our founder, who measured the first storm surge with a barometer and a rope.</p>`},
	{kind: "title", variant: "a page that was written over", cited: "Kubernetes autoscaling benchmarks", title: "Grandmother's plum cake", body: `<h1>Grandmother's plum cake</h1><p>Take a kilo of ripe plums, halve them, and lay them on a yeast dough that has risen for an hour. Bake until the edges are brown, and serve with whipped cream.</p>`},
	{kind: "no_text", variant: "a frameset", title: "Tide tables", body: `<frameset cols="20%,80%"><frame src="menu.html"><frame src="main.html"></frameset>`},
	{kind: "soft_404", variant: "an encyclopedia", cited: "Neap tide, in the Sea Encyclopedia", title: "Neap tide (deleted) - Sea Encyclopedia", body: `<h1>Neap tide</h1><p>Sea Encyclopedia does not have an article with this exact name. Please search for the title to check for alternative names or spellings.</p>`},
	{kind: "soft_404", variant: "a shop of maps", cited: "Chart of the Bristol Channel, 1862", title: "Antique Charts", body: `<h1>Whoops!</h1><h2>We looked everywhere for this page.</h2><p>Are you sure the website URL is correct? Get in touch with the site owner.</p>`},
	{kind: "soft_404", variant: "an archive of papers", cited: "Internal waves on the shelf", title: "Coastal Letters", body: `<h1>Sorry, the page you requested is unavailable.</h1><p>The link you requested might be broken, or no longer exist. Coastal Letters.</p>`},
	{kind: "soft_404", variant: "a learned joke", title: "Nothing but sand", body: `<h1>Error 404</h1><p>The tide has washed this page away. Our editors have been informed and are digging.</p>`},
	{kind: "soft_404", variant: "Slovenian", title: "Strani ni mogoče najti", body: `<h1>Strani ni mogoče najti</h1><p>Stran, ki jo iščete, ne obstaja več.</p>`},
	{kind: "soft_404", variant: "Hungarian", title: "Hiba", body: `<h1>404 - Az oldal nem található</h1><p>A keresett oldalt töröltük vagy áthelyeztük.</p>`},
	{kind: "soft_404", variant: "Korean", title: "오류", body: `<h1>죄송합니다. 페이지를 찾을 수 없습니다.</h1><p>주소를 다시 확인해 주세요.</p>`},
	{kind: "parked", variant: "a broker", title: "{host} - Domain Name For Sale", body: `<h1>{host}</h1><p>Interested in this domain? Our brokers will help you get it. Send an inquiry today.</p>`},
	{kind: "parked", variant: "a lapsed name", title: "Renew {host}", body: `<h1>{host} has expired and is pending renewal or deletion</h1><p>Please contact your registrar if you are the owner.</p>`},
	{kind: "parked", variant: "Italian", title: "{host}", body: `<p>Dominio registrato. Il dominio {host} è stato registrato da un cliente di un registrar.</p>`},
	{kind: "bot_wall", variant: "slide to verify", title: "Verification", body: `<p>Slide to verify</p><p>Please slide to verify that you are a real person.</p><div id="nc_1_wrapper" class="nc-captcha"></div>`},
	{kind: "bot_wall", variant: "too fast", title: "Slow down!", body: `<h1>Too many requests from your network</h1><p>Please complete the CAPTCHA to continue browsing.</p><div class="g-recaptcha"></div>`, status: 429},
	{kind: "bot_wall", variant: "Italian", title: "Controllo di sicurezza", body: `<h1>Un momento</h1><p>Stiamo verificando che tu non sia un robot. Attendi qualche secondo.</p><script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>`},
	{kind: "login", variant: "a newsroom", title: "Press area | Harbour Group", body: `<h1>Press area</h1><p>Please log in with your press account.</p><form><input type="text" name="email"><input type="password"><button>Log in</button></form>`},
	{kind: "login", variant: "single sign-on", title: "Web Login Service", body: `<h1>University of Lowmouth</h1><form><label>Username</label><input><label>Password</label><input type="password"><button>Login</button></form><p>Need help?</p>`, to: "idp.lowmouth.ac.uk/idp/profile/SAML2/Redirect/SSO?execution=e1s1"},
	{kind: "consent", variant: "Dutch wall", title: "Cookies", body: `<h1>Wij gebruiken cookies</h1><p>Met cookies en vergelijkbare technieken meten wij het gebruik van de site. Geef toestemming om door te gaan naar de site.</p><button>Akkoord</button><button>Instellingen</button>`, to: "/cookiewall?returnTo=%2Fnieuws"},
	{kind: "paywall", variant: "French, a daily", cited: "Le port s'envase", title: "Le port s'envase", body: `<h1>Le port s'envase</h1><p>Chaque marée apporte un peu de vase et en remporte un peu moins.</p><p>La suite est réservée aux abonnés. Il vous reste 82 % de cet article à lire.</p>`},
	{kind: "paywall", variant: "registration", cited: "A barge under the mud", title: "A barge under the mud", body: `<h1>A barge under the mud</h1><p>The bucket came up with more than mud on the third day.</p><h2>You have reached your limit of free articles</h2><p>Register for free or subscribe for unlimited access.</p>`},
	{kind: "home_page", variant: "without a trace", title: "Lowmouth Post", body: `<h1>Lowmouth Post</h1><p>All the news of the estuary, the islands and the sea wall, with tide tables for the week and the letters of our readers.</p>`, to: "/?ref=old-link"},
	{kind: "title", variant: "an invented paper", cited: "Transformer pruning, multilingual speech", title: "Opening hours of the tide mill", body: `<h1>Opening hours of the tide mill</h1><p>The mill can be visited on Saturdays at high water, when the wheel turns for about two hours. Children must be with an adult, and dogs stay outside.</p>`},
	{kind: "soft_404", variant: "a podcast", cited: "Mudlarks, episode 14", title: "Mudlarks", body: `<h1>Uh-oh.</h1><p>That episode isn't available. It may have been taken down by its owner.</p>`},
	{kind: "soft_404", variant: "a code host", cited: "tidewatch, release 2.1", title: "GitForge", body: `<h2>404</h2><h3>Page Not Found</h3><p>Make sure the address is correct and the page hasn't moved.</p><p>Please contact your administrator if you think this is a mistake.</p>`},
	{kind: "soft_404", variant: "a search without a hit", cited: "Council minutes of 4 May", title: "Search results", body: `<h1>No results found</h1><p>The page you requested could not be found. Try refining your search, or use the navigation above to locate the post.</p>`},
	{kind: "soft_404", variant: "gone with a new site", cited: "The ferry timetable of 1978", title: "Our website has changed", body: `<h1>Our website has changed</h1><p>We've launched a new website and the page you were looking for no longer exists.</p><p>Visit our new home page.</p>`},
	{kind: "soft_404", variant: "Romanian", title: "Eroare", body: `<h1>Ne pare rău, pagina nu a fost găsită</h1><p>Verificați adresa sau mergeți la pagina principală.</p>`},
	{kind: "soft_404", variant: "Vietnamese", title: "Lỗi 404", body: `<h1>Không tìm thấy trang</h1><p>Trang bạn yêu cầu không tồn tại.</p>`},
	{kind: "parked", variant: "under new ownership", title: "{host}", body: `<h1>Welcome to {host}</h1><p>{host} is your first and best source for all of the information you’re looking for.</p><ul><li>Insurance<li>Loans<li>Travel</ul><p>The sponsored listings displayed above are served automatically by a third party.</p>`},
	{kind: "parked", variant: "a reserved name", title: "Reserved", body: `<h1>{host}</h1><p>This domain has been reserved for a customer. Log in to the control panel to activate it.</p>`},
	{kind: "bot_wall", variant: "a patient one", title: "Checking your browser", body: `<h1>One more step</h1><p>Please complete the security check to access {host}.</p><div id="cf-wrapper"></div>`, status: 503},
	{kind: "bot_wall", variant: "Portuguese", title: "Verificação", body: `<h1>Confirme que você não é um robô</h1><p>Detectamos um tráfego incomum vindo da sua rede.</p>`},
	{kind: "bot_wall", variant: "Polish", title: "Weryfikacja", body: `<p>Potwierdź, że nie jesteś robotem, aby przejść dalej.</p><div class="h-captcha"></div>`},
	{kind: "login", variant: "a paper's reader account", title: "Sign in | North Daily", body: `<h1>Sign in or create an account</h1><form><input type="email"><button>Continue with email</button></form><button>Continue with Google</button><button>Continue with Apple</button>`, to: "/account/signin?redirect=%2F2021"},
	{kind: "login", variant: "Greek", title: "Σύνδεση", body: `<h1>Σύνδεση χρήστη</h1><form><input type="text"><input type="password"><button>Είσοδος</button></form>`},
	{kind: "consent", variant: "Finnish", title: "Evästeasetukset", body: `<h1>Käytämme evästeitä</h1><p>Me ja kumppanimme käytämme evästeitä ja keräämme tietoja laitteeltasi. Voit perua suostumuksesi milloin tahansa.</p><button>Hyväksy kaikki</button><button>Hylkää</button>`},
	{kind: "consent", variant: "Polish", title: "Szanujemy Twoją prywatność", body: `<h1>Szanujemy Twoją prywatność</h1><p>My i nasi partnerzy przechowujemy pliki cookie i uzyskujemy do nich dostęp. Zgodę można wycofać w każdej chwili.</p><button>Zgadzam się</button>`},
	{kind: "paywall", variant: "Spanish, a daily", cited: "El puerto se llena de fango", title: "El puerto se llena de fango", body: `<h1>El puerto se llena de fango</h1><p>Cada marea trae un poco de fango y se lleva un poco menos.</p><p>Este artículo es exclusivo para suscriptores. Hazte suscriptor por 1 euro el primer mes.</p>`},
	{kind: "paywall", variant: "a magazine", cited: "The last lamplighter of the pier", title: "The last lamplighter of the pier", body: `<h1>The last lamplighter of the pier</h1><p>He climbed the ladder two hundred times a night.</p><p>You’ve read your last complimentary article this month. To read the full story, subscribe today.</p>`},
	{kind: "paywall", variant: "a standard", cited: "ISO 4711, tide gauges", title: "ISO 4711 - Tide gauges", body: `<h1>ISO 4711</h1><p>Tide gauges, requirements and methods of test.</p><p>Preview. Only informative sections of standards are publicly available. To view the full content, you will need to purchase the standard.</p><button>Buy</button>`},
	{kind: "other_site", variant: "a campaign", title: "Win a cruise", body: `<h1>Win a cruise</h1><p>Answer three easy questions about the sea and take part in our prize draw for a week in the sun for two, with flights from an airport near you.</p>`, to: "cruisewinners.net/promo/spring"},
	{kind: "title", variant: "a reused address", cited: "Pension reform: actuarial tables", title: "Rope work for beginners", body: `<h1>Rope work for beginners</h1><p>The bowline is tied with a small loop through which the end goes up, round the back and down again. It never slips and can always be undone.</p>`},
}

// unseenHonest are pages without a fault.
var unseenHonest = []struct {
	variant, cited, title string
	before                string
	sentences             []string
	after                 string
}{
	{variant: "a question about a missing page", cited: "Page not found after deploying a static site", title: "Page not found after deploying a static site - Ask Developers",
		before: "<h1>Page not found after deploying a static site</h1>", sentences: []string{
			"My site works on my machine, but after a deploy every link except the first shows the error of the host.",
			"You have to tell the host to answer every path with the same file, because the router of your application runs in the browser.",
			"Put a file named redirects into the folder that is published, with one line that sends everything to the index, and deploy again.",
			"That fixed it, thank you; I had put the file into the wrong folder for three days.",
		}, after: "<p>Log in</p><p>Sign up</p>"},
	{variant: "a paragraph of law", cited: "§ 404 BGB Einwendungen des Schuldners", title: "§ 404 BGB - Einzelnorm", before: "<h1>§ 404 Einwendungen des Schuldners</h1>",
		sentences: []string{"Der Schuldner kann dem neuen Gläubiger die Einwendungen entgegensetzen, die zur Zeit der Abtretung der Forderung gegen den bisherigen Gläubiger begründet waren."}},
	{variant: "an entry of a dictionary", cited: "login, in a dictionary", title: "login - Open Dictionary", before: "<h1>login</h1><h2>English</h2><h3>Noun</h3>",
		sentences: []string{"The act of entering a user name and a password into a computer in order to use it.", "A combination of a name and a password that lets somebody use a system."}},
	{variant: "an object in a museum", cited: "Bronze ship's bell, 1743", title: "Ship's bell | Collection online", before: "<h1>Ship's bell</h1>",
		sentences: []string{"Bronze, cast in 1743, height 31 cm."}, after: "<p>Inventory number 1967.22</p><p>Not on display</p>"},
	{variant: "coming soon, an article", cited: "Coming soon: a new tide table for the estuary", title: "Coming soon: a new tide table for the estuary", before: "<h1>Coming soon: a new tide table for the estuary</h1>",
		sentences: []string{"The harbour office will publish a new table in spring, after two years of readings at four gauges between the bar and the bridge.", "Pilots have asked for it since the channel was dredged."}},
	{variant: "under construction, a bridge", cited: "Under construction: the swing bridge at Lowmouth", title: "Under construction", before: "<h1>Under construction</h1>",
		sentences: []string{"The swing bridge at Lowmouth has been under construction for three years, and the second pier was finished last week.", "Divers worked at slack water only, which left them forty minutes twice a day."}},
	{variant: "a policy on cookies that was cited as one", cited: "Cookie policy of the Harbour Society", title: "Cookie policy", before: "<h1>Cookie policy</h1>",
		sentences: []string{"This site sets one cookie, which remembers the colours that you chose.", "The cookie is deleted after a year, and no data are given to anybody else.", "You can refuse cookies in the settings of your browser."}, after: "<button>Close</button>"},
	{variant: "a policy on privacy with a form", cited: "Privacy notice: what the gauge network stores", title: "Privacy notice", before: "<h1>Privacy notice</h1>",
		sentences: []string{"The gauge network stores the address of a visitor for seven days to ward off attacks.", "Consent is not asked for, because nothing else is stored."}, after: "<form><input type=search><button>Search</button></form>"},
	{variant: "a free article with the marks of a subscription", cited: "What the dredgers found", title: "What the dredgers found - North Daily", before: "<header><a>Subscribe</a><a>Already a subscriber? Log in</a></header><h1>What the dredgers found</h1>",
		sentences: []string{
			"The bucket came up with more than mud on the third day of work.",
			"Under two metres of silt lay the ribs of a barge that nobody had missed.",
			"Archaeologists were given a week before the work had to go on.",
			"They lifted forty clay pipes, a compass without a needle, and a crate of roof tiles from a works that had closed in 1871.",
			"The barge itself was too soft to be raised and was covered with sand again.",
			"A model of it stands in the customs house, built by the crew of the dredger in their free time.",
			"The harbour master says that every town should look into its own mud once in a century.",
			"Work on the channel was finished a month late, which nobody has complained about so far.",
			"The tiles were given to the school, whose roof has looked patched ever since.",
			"Children count the red ones on their way home and never reach the same number twice.",
			"The compass is with a restorer, who believes that the needle was taken out on purpose.",
			"A second survey with sonar is planned for the autumn, when the ferries stop.",
		}},
	{variant: "an open paper with an offer of print", cited: "Salt marsh accretion over ninety years", title: "Salt marsh accretion over ninety years", before: "<h1>Salt marsh accretion over ninety years</h1><p>Open access</p>",
		sentences: []string{"We cored a salt marsh at nine places and dated the layers by their caesium.", "The marsh has kept pace with the sea for ninety years, at 3.4 mm a year on average."}, after: "<p>Order a printed copy of this volume</p><p>Sign in to save this article</p>"},
	{variant: "a repository", cited: "tidewatch: read tide gauges from the command line", title: "harbour/tidewatch: read tide gauges from the command line", before: "<header><a>Sign in</a><a>Sign up</a></header><h1>tidewatch</h1>",
		sentences: []string{"Read tide gauges from the command line.", "Install it with your package manager and run tidewatch with the name of a harbour."}, after: "<p>12 stars</p><p>3 forks</p>"},
	{variant: "a short poem", cited: "Ebb, a poem", title: "Ebb", before: "<h1>Ebb</h1>", sentences: []string{"The water goes", "and leaves the boats", "to lean and think."}},
	{variant: "a table with hardly a sentence", cited: "Mean tidal range by harbour", title: "Mean tidal range by harbour", before: "<h1>Mean tidal range by harbour</h1><table><tr><th>Harbour<th>Range<tr><td>Avonmouth<td>12.2 m<tr><td>Granville<td>11.6 m<tr><td>Husum<td>3.5 m</table>"},
	{variant: "a Dutch page under an English title", cited: "How the Delta Works protect Zeeland", title: "De Deltawerken", before: "<h1>De Deltawerken</h1>",
		sentences: []string{"Na de watersnood van 1953 besloot de regering de zeegaten af te sluiten.", "De stormvloedkering in de Oosterschelde staat meestal open, zodat eb en vloed blijven bestaan.", "Bij een verwachte waterstand van drie meter boven NAP gaan de schuiven dicht."}},
	{variant: "other forms of the same words", cited: "Gezeitenmessung im Watt", title: "Wie man die Gezeiten misst", before: "<h1>Wie man die Gezeiten misst</h1>",
		sentences: []string{"Im Wattenmeer wird der Wasserstand an festen Pegeln gemessen, seit einigen Jahren auch mit Radar.", "Eine Messung dauert eine Minute und wird jede Stunde an das Amt gesendet."}},
	{variant: "Catalan", cited: "La pesca de l'encesa a la Costa Brava", title: "La pesca de l'encesa", before: "<h1>La pesca de l'encesa</h1>",
		sentences: []string{"Els pescadors sortien a la nit amb un llum de gas per atraure la sardina.", "A cada barca hi anaven cinc homes, i el patró decidia on calar la xarxa."}},
	{variant: "Icelandic", cited: "Sjávarföll við Ísland", title: "Sjávarföll við Ísland", before: "<h1>Sjávarföll við Ísland</h1>",
		sentences: []string{"Munur flóðs og fjöru er mestur á Vesturlandi, um fimm metrar á stórstreymi.", "Fyrir austan og norðan er munurinn mun minni."}},
	{variant: "Swahili", cited: "Wavuvi wa Lamu na mawimbi", title: "Wavuvi wa Lamu", before: "<h1>Wavuvi wa Lamu</h1>",
		sentences: []string{"Wavuvi wa Lamu husafiri na jahazi wakati maji yanapojaa asubuhi.", "Maji yakipwa wanawake huokota kamba na kaa kwenye miamba."}},
	{variant: "Bengali", cited: "সুন্দরবনের জোয়ার ভাটা", title: "সুন্দরবনের জোয়ার ভাটা", before: "<h1>সুন্দরবনের জোয়ার ভাটা</h1>",
		sentences: []string{"সুন্দরবনে দিনে দুবার জোয়ার আসে এবং নদীর জল লবণাক্ত হয়ে যায়।", "মৌয়ালরা ভাটার সময় নৌকা নিয়ে বনের ভেতরে যায়।"}},
	{variant: "Georgian under an English title", cited: "Fishing villages of the Black Sea coast", title: "შავი ზღვის სოფლები", before: "<h1>შავი ზღვის სოფლები</h1>",
		sentences: []string{"შავი ზღვის სანაპიროზე მეთევზეები დილით ადრე გადიან ზღვაში.", "ბადეები ხელით იქსოვება და ზამთარში კეთდება."}},
	{variant: "a title in another order, with the site's name", cited: "North Daily: Silt, the slow flood", title: "The slow flood | North Daily", before: "<h1>The slow flood</h1>",
		sentences: []string{"Silt does not make headlines, but it has closed more harbours than any storm.", "The last coaster left Lowmouth on a spring tide and touched the ground twice."}},
	{variant: "a status page that says all is well", cited: "Status of the gauge network", title: "All systems operational", before: "<h1>All systems operational</h1>", sentences: []string{"No incidents reported today."}},
	{variant: "a page about robots", cited: "Are you a robot? Ten machines that pass for people", title: "Are you a robot? Ten machines that pass for people", before: "<h1>Are you a robot?</h1>",
		sentences: []string{"Ten machines on show in the science museum pass for people at a distance of five metres.", "Visitors vote at the exit, and the walking bartender has won every month since May."}},
	{variant: "an index of a journal", cited: "Contents of Coastal Letters, volume 12", title: "Volume 12", before: "<h1>Coastal Letters, volume 12</h1><ul><li>Salt marshes in winter<li>Access denied: how fences change a beach<li>Seagrass from the air<li>Page proofs and other errors</ul>"},
	{variant: "lost property", cited: "Found on the beach, claimed by nobody", title: "Found on the beach, claimed by nobody", before: "<h1>Found on the beach</h1>",
		sentences: []string{"The owner of the wooden leg could not be found.", "It has been on the shelf of the harbour office since the regatta of 1998."}},
	{variant: "a file that is lost to history", cited: "The missing log of the Marigold", title: "The missing log of the Marigold", before: "<h1>The missing log of the Marigold</h1>",
		sentences: []string{"The log was last seen in an auction of 1911, and the document has not been found since.", "A copy of four pages is in the county archive."}},
	{variant: "sold, a ship", cited: "The lightship that was for sale", title: "For sale: one lightship", before: "<h1>For sale: one lightship</h1>",
		sentences: []string{"A lightship was offered for sale last week, with a price on request and a leak in the bow.", "The buyer wants to make a café of it, and has asked for a berth."}},
	{variant: "sign in, a phrase in music", cited: "Key signatures for beginners", title: "Sign in, sign out: key signatures for beginners", before: "<h1>Sign in, sign out</h1>",
		sentences: []string{"A sharp sign in the key signature holds for the whole piece, a sign before a note for one bar only."}},
	{variant: "a recipe with a banner", cited: "Samphire with butter", title: "Samphire with butter", before: "<div class=cookie-banner><p>We use cookies to make this site work.</p><button>OK</button></div><h1>Samphire with butter</h1>",
		sentences: []string{"Wash a pound of samphire and boil it for two minutes without salt.", "Toss it in butter and serve it with fish."}},
	{variant: "a glossary of errors", cited: "HTTP status codes, a short list", title: "HTTP status codes", before: "<h1>HTTP status codes</h1><ul><li>200 OK<li>301 Moved Permanently<li>403 Forbidden<li>404 Not Found<li>410 Gone<li>503 Service Unavailable</ul>"},
	{variant: "a notice about a site's own move", cited: "The tide office has moved", title: "We have moved", before: "<h1>We have moved</h1>",
		sentences: []string{"The tide office is now at 12 Quay Street, above the chandler.", "Opening hours are as before, nine to four."}},
	{variant: "an interview in Norwegian", cited: "Interview with the last seaweed cutter of Smøla", title: "Den siste tarekutteren", before: "<h1>Den siste tarekutteren</h1>",
		sentences: []string{"Han har skåret tare i femti år og vil ikke slutte før båten gjør det.", "Om vinteren reparerer han motoren på kjøkkenet."}},
	{variant: "an abstract of a thesis in Turkish", cited: "Gelgit enerjisi üzerine bir inceleme", title: "Gelgit enerjisi", before: "<h1>Gelgit enerjisi üzerine bir inceleme</h1>",
		sentences: []string{"Bu çalışmada Ege kıyılarında gelgit enerjisinin payı incelenmiştir.", "Ölçümler iki yıl sürmüş ve üç istasyonda yapılmıştır."}},
	{variant: "members of a club", cited: "Members of the Lowmouth Sailing Club, 1923", title: "Members", before: "<h1>Members</h1><p>Members only met on Sundays.</p>",
		sentences: []string{"The list of 1923 has forty names, nine of them women, which was more than in any other club of the county."}},
	{variant: "a privacy ruling", cited: "Court rules on cookie consent in the ferry case", title: "Court rules on cookie consent", before: "<h1>Court rules on cookie consent</h1>",
		sentences: []string{"The court held that a box which is ticked beforehand is not consent.", "The ferry company must pay the costs and delete the data of nine thousand passengers."}, after: "<form><input type=search><button>Search</button></form>"},
	{variant: "a page of a wiki with an edit link", cited: "Spring tide", title: "Spring tide - Seapedia", before: "<nav>Log in Create account</nav><h1>Spring tide</h1>",
		sentences: []string{"A spring tide occurs shortly after full and new moon, when sun and moon pull in line.", "This article is a stub."}},
	{variant: "numbers only", cited: "Gauge readings of 3 May", title: "Gauge readings", before: "<pre>00:00 3.41\n06:00 1.02\n12:00 3.55\n18:00 0.98</pre>"},
	{variant: "a captain's blocked channel", cited: "You have been blocked: ice in the Kattegat", title: "Ice in the Kattegat", before: "<h1>You have been blocked, said the pilot</h1>",
		sentences: []string{"The ice came overnight and closed the channel for eleven days.", "Two icebreakers worked from both ends and met on a Sunday, a day before the food ran out on the ferry."}},
	{variant: "Welsh", cited: "Llanw a thrai yng Nghymru", title: "Llanw a thrai", before: "<h1>Llanw a thrai</h1>",
		sentences: []string{"Mae'r llanw ym Môr Hafren ymhlith yr uchaf yn y byd.", "Bydd y pysgotwyr yn aros am y trai cyn casglu'r cocos."}},
	{variant: "Armenian", cited: "Սևանա լճի ձկնորսները", title: "Սևանա լճի ձկնորսները", before: "<h1>Սևանա լճի ձկնորսները</h1>",
		sentences: []string{"Ձկնորսները վաղ առավոտյան դուրս են գալիս լիճ։", "Ձմռանը ցանցերը նորոգում են տանը։"}},
	{variant: "a dead link register", cited: "Which council pages no longer exist", title: "Which council pages no longer exist", before: "<h1>Which council pages no longer exist</h1>",
		sentences: []string{"We asked the council for a list of the pages that it removed last year, and got one with 312 entries.", "A third of them were about parking."}},
	{variant: "an empty shelf", cited: "Samphire is not available this week", title: "Market report", before: "<h1>Market report</h1>",
		sentences: []string{"Samphire is not available this week because of the cold.", "Cockles are cheap, and crab costs what it did in May."}},
	{variant: "a short biography behind a portrait", cited: "Ada Marsh, harbour engineer", title: "Ada Marsh", before: "<h1>Ada Marsh</h1>", sentences: []string{"Harbour engineer, 1861–1932."}},
	{variant: "a manual page about a captcha setting", cited: "How to switch on the captcha in Forumtool", title: "Captcha settings - Forumtool manual", before: "<h1>Captcha settings</h1>",
		sentences: []string{"Open the settings and tick the box before Captcha.", "Visitors who are not logged in then have to solve a small sum before they can post."}},
	{variant: "a domain of knowledge", cited: "The domain of the seagull", title: "The domain of the seagull", before: "<h1>The domain of the seagull</h1>",
		sentences: []string{"The domain of a pair is the roof it breeds on and the street below.", "Rivals are driven off, and so are postmen."}},
	{variant: "an article on subscriptions at the library", cited: "Subscribers of the reading room, 1820", title: "Subscribers of 1820", before: "<h1>Subscribers of 1820</h1>",
		sentences: []string{"The reading room was for subscribers only, who paid a guinea a year.", "Its ledger names two hundred of them, among them nine captains."}},
	{variant: "a consent order", cited: "Consent order in the matter of the oyster beds", title: "Consent order", before: "<h1>Consent order</h1>",
		sentences: []string{"By consent it is ordered that the oyster beds between the two beacons are let to the first party for 21 years.", "Each party bears its own costs."}},
	{variant: "Basque", cited: "Itsasaldiak Urdaibain", title: "Itsasaldiak Urdaibain", before: "<h1>Itsasaldiak Urdaibain</h1>",
		sentences: []string{"Itsasgora egunean bi aldiz iristen da Gernikako zubiraino.", "Itsasbeheran txirlak biltzen dira hondartzan."}},
	{variant: "Punjabi under an English title", cited: "Boatmen of the Sutlej", title: "ਸਤਲੁਜ ਦੇ ਮਲਾਹ", before: "<h1>ਸਤਲੁਜ ਦੇ ਮਲਾਹ</h1>",
		sentences: []string{"ਮਲਾਹ ਸਵੇਰੇ ਬੇੜੀ ਲੈ ਕੇ ਦਰਿਆ ਪਾਰ ਕਰਦੇ ਹਨ।", "ਪੁਲ ਬਣਨ ਤੋਂ ਬਾਅਦ ਉਨ੍ਹਾਂ ਦਾ ਕੰਮ ਘੱਟ ਗਿਆ।"}},
	{variant: "a changelog", cited: "tidewatch 2.1 release notes", title: "Release 2.1", before: "<h1>Release 2.1</h1><ul><li>Fixed: page not found after a restart<li>Fixed: login failed with long passwords<li>Added: tide tables for 2026</ul>"},
}
