package source

import "github.com/tidegate/tidegate/internal/text/page"

// A title without function words counts as being in the language of its page if
// few of its syllables are English, and the beginning of the page has enough of
// them.
const (
	mostEnglish  = 0.65 // of its syllables
	leastOwn     = 0.48 // of as many as are English
	sampleLength = 1000 // of the page, in bytes
)

// likePage reports whether a title seems to be in the language of a text that is
// not English.
func likePage(title, text string) bool {
	english := commonPart(title, syllables(englishSample))
	return english < mostEnglish && commonPart(title, syllables(page.CutBytes(text, sampleLength))) >= leastOwn*english
}

// syllables are the groups of three letters in the words of a text, with the
// beginnings and ends of words.
func syllables(text string) map[string]bool {
	set := map[string]bool{}
	eachSyllable(text, func(s string) { set[s] = true })
	return set
}

// commonPart is the part of a text's syllables that a set has.
func commonPart(text string, set map[string]bool) float64 {
	all, common := 0, 0
	eachSyllable(text, func(s string) {
		if all++; set[s] {
			common++
		}
	})
	return float64(common) / float64(max(1, all))
}

func eachSyllable(text string, visit func(string)) {
	page.EachWord(text, func(w page.Word) bool {
		letters := []rune(" " + w.Text + " ")
		for i := 0; i+3 <= len(letters); i++ {
			visit(string(letters[i : i+3]))
		}
		return true
	})
}

// englishSample is an English text with words of many kinds.
const englishSample = `The government of the country announced on Monday that it would increase spending on public health, education and research over the next five years. ` +
	`Experts from several universities said the plan was an important step, although they warned that the effects of climate change, rising energy prices and global trade could make the future uncertain. ` +
	`A report published in the journal describes how scientists measured the quality of water in rivers and lakes, and what they learned about the history of the region. ` +
	`Companies are investing in artificial intelligence, quantum computing, semiconductors and battery technology, while banks and markets watch interest rates, inflation and quarterly earnings. ` +
	`Many people who live in cities spend more than half of their income on housing, food and transport; young families with children often move to smaller towns. ` +
	`The study of language shows that words change their meaning slowly, through use, and that children learn grammar without being taught the rules. ` +
	`In the evening the weather became cold and windy, so the workers closed the windows, put away their tools and walked home along the old railway line. ` +
	`Doctors recommend regular exercise, enough sleep and a balanced diet to prevent heart disease, diabetes and other common conditions. ` +
	`Judges decided that the law protects the freedom of speech and the rights of consumers, but not every claim that was brought before the court. ` +
	`Farmers harvest wheat, apples and potatoes in autumn, keep sheep, horses and bees, and mend fences, roofs and walls with timber, stone and clay. ` +
	`The museum shows pottery, carpets, bells, shoes, paintings, masks and musical instruments; a chapel, a mill and a workshop stand behind the garden. ` +
	`Fishing boats left the harbour at dawn, passed the lighthouse and the salt marshes, and came back with herring, shrimps and torn nets. ` +
	`Birds nest in hollow trees: owls, storks, swallows, geese and woodpeckers; foxes, deer, otters and squirrels drink from the pond. ` +
	`Miners dug copper, coal, silver and salt from deep shafts under the mountain, and mules carried the ore down to the village. ` +
	`How to cook rice, bake bread, brew coffee, grow vegetables, paint a kitchen, repair a bicycle, choose a camera, write a letter or knit a sweater. ` +
	`The film festival, the football league, chess champions, jazz bands, theatre, poetry, fashion designers and popular television shows. ` +
	`Software updates, wireless networks, data privacy, open source libraries, cloud storage, keyboards, screens, robots, satellites and telescopes. ` +
	`Ancient empires, medieval knights, kings, castles, revolutions, treaties, slavery, voting rights, world wars, refugees and peace movements. ` +
	`Overview, guide, introduction, analysis, review, annual statistics, development, security, management, policy, strategy, outlook, survey, framework, handbook, summary, yearbook, archive, timeline.`
