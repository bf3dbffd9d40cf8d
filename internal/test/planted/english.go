package planted

// english is the tongue of most pages. It has several articles.
var english = tongue{
	code: "en", name: "English", home: "Home", about: "About us",
	title: englishArticles[0].title, article: englishArticles[0].sentences,
	notFound: "Page not found", notFoundText: "Sorry, the page you are looking for does not exist or has been moved. Check the address or go back to the home page.",
	signIn: "Sign in", signInText: "Please sign in to continue. Enter your email address and password. Forgot your password? Create an account.",
	consent: "We value your privacy", consentText: "We and our partners store or access information on a device, such as cookies, and process personal data. With your permission we may use precise geolocation data. You can withdraw your consent at any time.",
	accept: "Accept all", reject: "Reject all",
	subscribe: "Subscribe to continue reading", subscribeFor: "This article is for subscribers only. Start your trial for $1 for the first month. Already a subscriber? Log in.",
	forSale: "This domain is for sale. Make an offer on this domain name today.",
}

type article struct {
	title     string
	sentences []string
}

// englishArticles are about unrelated things.
var englishArticles = []article{
	{"Measuring tides with a stilling well", []string{
		"A stilling well is a pipe that lets the sea in through a small hole, so that waves are damped and only the slow change of the tide remains.",
		"The gauge at the harbour wall was installed in %d and has been read every six minutes since.",
		"A float rises and falls in the pipe, and a wire turns a drum on which a pen draws the curve.",
		"Engineers compared the old float with a radar sensor for %d days and found a mean difference of four millimetres.",
		"The hole must be cleaned of barnacles twice a year, or the record begins to lag behind the real level.",
		"Over the whole period the mean level rose by %d millimetres, most of it in the last three decades.",
		"Storm surges show as a hump on the curve that does not follow the moon.",
		"The data are published every morning and used by pilots, fishermen and the local flood office.",
		"In the archive lie %d paper rolls that volunteers are scanning line by line.",
	}},
	{"Why sourdough bread keeps longer than yeasted loaves", []string{
		"Sourdough keeps longer than yeasted bread because its bacteria make lactic and acetic acid.",
		"The acids slow down the mould that would otherwise appear after %d days.",
		"They also change how starch crystallises, so that the crumb stays soft.",
		"In a trial with %d loaves, bakers stored half in paper and half in linen.",
		"Linen won by a day and a half, and nobody could explain why.",
		"A starter that is fed with rye flour turns sour faster than one fed with wheat.",
		"The oldest culture in the collection dates from %d and still doubles in four hours.",
		"Baking at a high temperature with steam gives a thick crust, which acts as a lid.",
	}},
	{"How narrow gauge railways opened the slate valleys", []string{
		"Slate from the mountain quarries once travelled to the coast on the backs of mules.",
		"In %d a company laid rails just two feet apart, and the wagons ran down by gravity alone.",
		"Horses rode in a special dandy cart and pulled the empty train up again.",
		"A round trip took about %d hours, with stops at every passing loop.",
		"Steam arrived later, in engines so small that the driver stood outside the cab.",
		"At its peak the line carried %d tons a year and employed three hundred people.",
		"When the quarries closed, the track was bought by enthusiasts for the price of scrap.",
		"They have since rebuilt %d bridges with their own hands.",
	}},
	{"Beekeeping on city rooftops", []string{
		"Bees do surprisingly well on city rooftops, where flowers bloom from March until November.",
		"A survey of %d hives found more kinds of pollen in town than in the farmland around it.",
		"Lime trees along the avenues give a pale honey with a hint of mint.",
		"Wind is the greatest danger, so keepers tie the boxes down with straps.",
		"Each colony needs about %d kilograms of stores to survive the winter.",
		"Neighbours are usually afraid at first and ask for a jar in the end.",
		"The association has grown to %d members since it was founded in a pub.",
		"Swarms are collected free of charge by a volunteer with a ladder and a cardboard box.",
	}},
	{"The long repair of a cathedral clock", []string{
		"The clock in the north tower stopped on a cold night and did not move again for years.",
		"Its frame was forged in %d from iron that came down the river by barge.",
		"The restorers took out %d parts and laid them on numbered sheets of paper.",
		"A single tooth of the great wheel had broken, and the rest had worn to fit the gap.",
		"They cast a new wheel from the same alloy and cut the teeth by hand.",
		"The pendulum is four metres long and swings once in two seconds.",
		"Since the repair it loses less than %d seconds in a week.",
		"Every Sunday the verger climbs the stairs and winds three weights with a crank.",
	}},
	{"What owl pellets tell about voles", []string{
		"A barn owl swallows its prey whole and brings up the bones as a dry grey pellet.",
		"Taking pellets apart is the cheapest way to count the small mammals of a district.",
		"Pupils of the village school dissected %d pellets in one winter.",
		"Nine skulls in ten belonged to field voles, the others to shrews and mice.",
		"In %d the share of voles dropped sharply, and so did the number of owlets.",
		"Jaws can be told apart by the shape of the teeth, under a simple lens.",
		"The record now covers %d barns and is kept by a retired vet.",
		"Farmers who leave a strip of rough grass see the owls return within two seasons.",
	}},
	{"Printing with wooden type in a small workshop", []string{
		"Large letters for posters were cut from maple, because lead of that size would crack.",
		"The workshop owns %d drawers of type, some of it never used.",
		"A printer locks the letters into a frame and rolls ink over them by hand.",
		"Old dents show as small white scars, and customers ask for exactly those.",
		"The press was built in %d and weighs as much as a delivery van.",
		"It prints about %d sheets an hour when two people work together.",
		"Ink for posters is thick and takes a night to dry on a line.",
		"Apprentices begin by sorting the letters back into their boxes.",
	}},
	{"Growing potatoes above the tree line", []string{
		"On the high plateau farmers grow potatoes where nothing else will ripen.",
		"They keep more than %d kinds, each for its own height and kind of soil.",
		"At night the harvest is spread on the ground to freeze, and by day it thaws in the sun.",
		"After five days people tread out the water with bare feet.",
		"What is left is white, light as cork, and keeps for %d years.",
		"A store house from the fifteenth century still held some when it was opened.",
		"The institute tested %d samples and found hardly any loss of starch.",
		"Children learn the names of the varieties before they learn to count.",
	}},
	{"A field guide to roadside geology", []string{
		"Every road cut is a page that somebody has opened for the traveller.",
		"The red bands beside the old highway are desert sand, laid down long before the first dinosaur.",
		"A thin grey layer of ash marks an eruption that was heard %d kilometres away.",
		"Look for ripple marks on the undersides of slabs; they show which way the water ran.",
		"The guide describes %d stops, each with a safe place to park.",
		"It was first printed in %d and has been corrected by its readers ever since.",
		"Hammers are not welcome, but a hand lens and a bottle of vinegar are.",
		"Where the rock fizzes, you are standing on an ancient sea floor.",
	}},
	{"Repairing fishing nets by hand", []string{
		"A torn net is mended with the same knot with which it was made, the sheet bend.",
		"The mender cuts the hole larger first, until only whole meshes remain around it.",
		"A wooden needle holds %d metres of twine and fits through the smallest mesh.",
		"Old men do the work on the quay and rarely look at their hands.",
		"A trawl of medium size has about %d knots.",
		"Nylon replaced hemp around %d, and nets no longer had to be tanned with bark.",
		"The fishery school has brought the subject back, because a new net costs as much as a car.",
		"Students who finish the course can close a hole of one metre in %d minutes.",
	}},
}

// elsewhere are titles that share no word with any of the articles above.
var elsewhere = []string{
	"Quantum annealing benchmarks: protein folding revisited",
	"Semiconductor export controls, quarterly outlook",
	"Randomised malaria vaccine efficacy",
	"Lithium battery cathode degradation mechanisms",
	"Sovereign bond yields: inflation expectations",
	"Transformer language models: scaling laws",
	"Coral bleaching, Barrier Reef monitoring",
	"Antitrust enforcement: digital advertising markets",
	"Perovskite photovoltaic stability report",
	"Satellite megaconstellations: orbital debris policy",
}
