// Reads the exports of records with citation-js and prints what it understood.
import { Cite, plugins } from "@citation-js/core"
import "@citation-js/plugin-csl"
import "@citation-js/plugin-bibtex"
import "@citation-js/plugin-ris"

let input = ""
for await (const chunk of process.stdin) input += chunk
const files = JSON.parse(input)
plugins.config.get("@bibtex")
const out = {}
for (const [name, type] of [["csl", "@csl/list+object"], ["bibtex", "@bibtex/text"], ["ris", "@ris/file"]]) {
  const source = name === "csl" ? JSON.parse(files.csl) : files[name]
  out[name] = new Cite(source, { forceType: type }).data.map(item => ({
    id: item.id, title: item.title, url: item.URL,
    authors: (item.author || []).map(a => a.literal || [a.given, a.family].filter(Boolean).join(" ")),
    year: item.issued?.["date-parts"]?.[0]?.[0] ?? 0,
  }))
}
out.html = new Cite(JSON.parse(files.csl)).format("bibliography", { format: "html", template: "apa", lang: "en-US" })
process.stdout.write(JSON.stringify(out))
