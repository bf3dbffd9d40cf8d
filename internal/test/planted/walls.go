package planted

// wall is a page that stands in front of another one.
type wall struct {
	name, title, body string
	status            int
	header            [2]string
}

// botWalls are what services show to programs.
var botWalls = []wall{
	{"cloudflare challenge", "Just a moment...", `<h1 class="zone-name-title">{host}</h1><h2>Checking if the site connection is secure</h2><noscript>Enable JavaScript and cookies to continue</noscript><p>{host} needs to review the security of your connection before proceeding.</p><script>window._cf_chl_opt={cType:'managed'};</script>`, 403, [2]string{"Cf-Mitigated", "challenge"}},
	{"cloudflare blocked", "Attention Required! | Cloudflare", `<h1>Sorry, you have been blocked</h1><h2>You are unable to access {host}</h2><p>This website is using a security service to protect itself from online attacks. The action you just performed triggered the security solution.</p><p>Cloudflare Ray ID: <strong>8a1b2c3d4e5f6071</strong></p>`, 403, [2]string{"Server", "cloudflare"}},
	{"cloudflare older", "Just a moment...", `<h1>Checking your browser before accessing {host}.</h1><p>This process is automatic. Your browser will redirect to your requested content shortly.</p><p>Please allow up to 5 seconds…</p><p>DDoS protection by Cloudflare</p>`, 503, [2]string{"Server", "cloudflare"}},
	{"cloudflare turnstile", "Verify you are human", `<h1>{host}</h1><p>Verify you are human by completing the action below.</p><div class="cf-turnstile"></div><p>{host} needs to review the security of your connection before proceeding.</p>`, 200, [2]string{"Server", "cloudflare"}},
	{"akamai", "Access Denied", `<H1>Access Denied</H1>You don't have permission to access "http://{host}/" on this server.<P>Reference #18.2d351ab8.1557333295.a4e16ab</P>`, 403, [2]string{"Server", "AkamaiGHost"}},
	{"akamai with 200", "Access Denied", `<H1>Access Denied</H1>You don't have permission to access "http://{host}/" on this server.<P>Reference #18.9c341602.1712000000.1f2e3d4</P>`, 200, [2]string{"Server", "AkamaiGHost"}},
	{"perimeterx", "Access to this page has been denied", `<h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1><p>Reference ID 1f2e3d4c-5b6a-11ee-9876-0242ac120002</p><script>window._pxAppId='PX12345678';</script>`, 403, [2]string{}},
	{"perimeterx with 200", "Access to this page has been denied.", `<p>Access to this page has been denied because we believe you are using automation tools to browse the website.</p><p>This may happen as a result of the following: Javascript is disabled or blocked by an extension; your browser does not support cookies.</p>`, 200, [2]string{}},
	{"datadome", "{host}", `<p>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','cid':'AHrlqAAAAAMA','host':'geo.captcha-delivery.com'}</script>`, 403, [2]string{"X-Datadome", "protected"}},
	{"imperva", "", `<iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=5-1234" frameborder=0 width="100%">Request unsuccessful. Incapsula incident ID: 877000120012345678-123456789012345678</iframe>`, 200, [2]string{"X-Iinfo", "5-1234"}},
	{"imperva pardon", "Pardon Our Interruption", `<h1>Pardon Our Interruption...</h1><p>As you were browsing something about your browser made us think you were a bot. There are a few reasons this might happen: You're a power user moving through this website with super-human speed.</p>`, 200, [2]string{}},
	{"aws waf", "Human Verification", `<noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot. This requires JavaScript. Enable JavaScript and then reload the page.</noscript><script src="https://token.awswaf.com/challenge.js"></script>`, 202, [2]string{"X-Amzn-Waf-Action", "challenge"}},
	{"google sorry", "Sorry...", `<p>Our systems have detected unusual traffic from your computer network. This page checks to see if it's really you sending the requests, and not a robot.</p>`, 429, [2]string{}},
	{"recaptcha", "Are you a robot?", `<h1>Are you a robot?</h1><p>Please confirm you are a human by completing the captcha challenge below.</p><div class="g-recaptcha"></div>`, 200, [2]string{}},
	{"characters", "Robot Check", `<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. For best results, please make sure your browser is accepting cookies.</p>`, 200, [2]string{}},
	{"ddos-guard", "DDoS-Guard", `<h1>Checking your browser before accessing {host}</h1><p>Please wait a few seconds. Once this check is complete, the website will open automatically.</p>`, 403, [2]string{"Server", "ddos-guard"}},
	{"sucuri", "Sucuri WebSite Firewall - Access Denied", `<h1>Access Denied - Sucuri Website Firewall</h1><p>If you are the site owner (or you manage this site), please whitelist your IP. Block ID: BNP005</p>`, 403, [2]string{"X-Sucuri-Id", "18012"}},
	{"anubis", "Making sure you're not a bot!", `<h1>Making sure you're not a bot!</h1><p>Loading...</p><p>You are seeing this because the administrator of this website has set up Anubis to protect the server against the scourge of AI companies aggressively scraping websites.</p>`, 200, [2]string{}},
	{"kasada", "", `<script>window.KPSDK={};KPSDK.now=typeof performance;</script><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/ips.js"></script>`, 429, [2]string{"X-Kpsdk-Ct", "0a1b2c"}},
	{"bloomberg", "Are you a robot?", `<h1>We've detected unusual activity from your computer network</h1><p>To continue, please click the box below to let us know you're not a robot.</p><p>Why did this happen? Please make sure your browser supports JavaScript and cookies and that you are not blocking them from loading.</p>`, 200, [2]string{}},
	{"fastly", "Client Challenge", `<h1>Client Challenge</h1><noscript>JavaScript is disabled in your browser. Please enable JavaScript to proceed.</noscript><p>A required part of this site couldn't load. This may be due to a browser extension, network issues, or browser settings.</p>`, 200, [2]string{}},
	{"german", "Sicherheitsüberprüfung", `<h1>Bitte bestätigen Sie, dass Sie kein Roboter sind</h1><p>Aus Sicherheitsgründen müssen wir prüfen, ob Ihre Anfrage von einem Menschen stammt. Lösen Sie dazu das Captcha.</p>`, 200, [2]string{}},
	{"chinese", "安全验证", `<h1>安全验证</h1><p>您的访问过于频繁，请完成下方验证后继续访问。请拖动滑块完成拼图。</p>`, 200, [2]string{}},
	{"russian", "Ой!", `<h1>Подтвердите, что запросы отправляли вы, а не робот</h1><p>Нам очень жаль, но запросы с вашего устройства похожи на автоматические.</p>`, 200, [2]string{}},
}

// parked are what a domain without a page shows.
var parked = []wall{
	{"sedo", "{host} - This website is for sale! - {host} Resources and Information.", `<p>The domain {host} may be for sale by its owner!</p><h2>Related searches</h2><ul><li>Cheap flights<li>Car insurance<li>Online degrees</ul><p>This webpage was generated by the domain owner using Sedo Domain Parking. Disclaimer: Sedo maintains no relationship with third party advertisers.</p>`, 200, [2]string{}},
	{"godaddy", "{host}", `<h1>{host}</h1><p>This domain is parked free, courtesy of GoDaddy.com.</p><p>Get this domain. Would you like to buy this domain?</p>`, 200, [2]string{}},
	{"hugedomains", "{host} is for sale | HugeDomains", `<h1>{host} is for sale</h1><p>30-day money back guarantee. Take immediate ownership. Buy now for $2,395 or start payment plan.</p>`, 200, [2]string{}},
	{"dan", "{host} domain name is for sale. Inquire now.", `<h1>The domain name {host} is for sale!</h1><p>Make an offer. Free transaction support. Secure payments.</p>`, 200, [2]string{}},
	{"afternic", "{host} is available for purchase", `<h1>{host} is available for purchase</h1><p>Get a price in less than 24 hours. Fill out the form below. One of our domain experts will have a price to you within 24 business hours.</p>`, 200, [2]string{}},
	{"namecheap", "{host} - Registered at Namecheap.com", `<p>This domain has recently been registered with Namecheap.</p><p>{host} is parked. Related Links: Mobile Phones, Credit Cards, Hotels.</p>`, 200, [2]string{}},
	{"bodis", "{host}", `<p>{host} is a domain that is parked. This page is provided courtesy of the domain parking service.</p><ul><li>Health Insurance<li>Dating<li>Mortgage Rates</ul>`, 200, [2]string{}},
	{"expired", "Domain expired", `<h1>This domain has expired.</h1><p>If you owned this domain, contact your domain registration service provider for further assistance.</p>`, 200, [2]string{}},
	{"network solutions", "{host} Coming Soon", `<h1>This site is under construction and coming soon.</h1><p>This domain is registered with Network Solutions. Search for similar domains.</p>`, 200, [2]string{}},
	{"ionos", "{host} steht zum Verkauf", `<h1>Diese Domain ist bereits registriert und steht zum Verkauf</h1><p>Hier entsteht eine neue Internetpräsenz. Ihre Domain bei IONOS.</p>`, 200, [2]string{}},
	{"strato", "Domain {host}", `<h1>Diese Website wurde soeben freigeschaltet.</h1><p>Der Inhaber dieser Domain parkt diese beim Domain-Anbieter. Die hier angezeigten Sponsored Listings werden von dritter Seite automatisch generiert.</p>`, 200, [2]string{}},
	{"ovh", "Félicitations ! Votre domaine a bien été créé chez OVHcloud !", `<h1>Ce nom de domaine est réservé</h1><p>Site en construction. Le domaine {host} est enregistré par un client.</p>`, 200, [2]string{}},
	{"nginx", "Welcome to nginx!", `<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed and working. Further configuration is required.</p>`, 200, [2]string{}},
	{"apache", "Apache2 Debian Default Page: It works", `<p>It works!</p><p>This is the default welcome page used to test the correct operation of the Apache2 server after installation on Debian systems.</p>`, 200, [2]string{}},
	{"iis", "IIS Windows Server", `<p>Internet Information Services</p><p>Welcome. This is the default web site.</p>`, 200, [2]string{}},
	{"plesk", "Domain Default page", `<h1>Domain Default page</h1><p>If you are seeing this message, the website for {host} is not available at this time. Log in to Plesk to create websites and set up hosting.</p>`, 200, [2]string{}},
	{"suspended", "Account Suspended", `<h1>This Account has been suspended.</h1><p>Contact your hosting provider for more information.</p>`, 200, [2]string{}},
}

// softNotFound are pages that say, with status 200, that they do not exist.
var softNotFound = []wall{
	{"plain", "404 Not Found", `<h1>Not Found</h1><p>The requested URL was not found on this server.</p>`, 200, [2]string{}},
	{"number in the title", "404", `<h1>404</h1><p>Whoops! That page can't be found.</p>`, 200, [2]string{}},
	{"wordpress", "Page not found – Harbour Notes", `<h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this location. Maybe try a search?</p>`, 200, [2]string{}},
	{"shop", "Product unavailable", `<h1>We couldn't find that page</h1><p>The item you are looking for is no longer available. Continue shopping.</p>`, 200, [2]string{}},
	{"error page", "Error", `<h1>Error 404: Page Not Found</h1><p>The page you requested could not be found. It may have been removed, had its name changed, or is temporarily unavailable.</p>`, 200, [2]string{}},
	{"joke", "Lost at sea", `<h1>404 — You seem to be lost</h1><p>The page you are looking for has drifted away. Sail back to the home page.</p>`, 200, [2]string{}},
	{"news", "Story not found", `<h1>Sorry, this story is no longer available</h1><p>The article you are looking for could not be found or has been removed from our site.</p>`, 200, [2]string{}},
	{"repository", "Page not found · GitForge", `<h1>404</h1><p>This is not the web page you are looking for.</p>`, 200, [2]string{}},
	{"video", "Video unavailable", `<h1>This video isn't available anymore</h1><p>The video has been removed by the uploader.</p>`, 200, [2]string{}},
	{"wiki", "No such article", `<p>There is currently no text in this page. This page does not exist. You can search for this page title in other pages.</p>`, 200, [2]string{}},
	{"sharepoint", "Page not found", `<h1>Sorry, page not found</h1><p>The page may have been moved or deleted. Contact your site administrator if you need help.</p>`, 200, [2]string{}},
	{"preprint", "Identifier not recognized", `<h1>Article not found</h1><p>The document identifier was not found in our database.</p>`, 200, [2]string{}},
}
