// Reads a JSON array of documents and writes, for each of them, what commonmark
// makes of the inside of its blocks: one line for each leaf block, and where its
// links and images lead.
import * as commonmark from "commonmark";
import { readFileSync } from "node:fs";

function judge(doc) {
    const blocks = [], destinations = [];
    let line = null, images = 0, links = 0;
    const say = (kind, text) => line.push([kind + (links > 0 ? "l" : "") + (images > 0 ? "i" : ""), text]);
    const walker = new commonmark.Parser().parse(doc).walker();
    let event;
    while ((event = walker.next())) {
        const node = event.node, step = event.entering ? 1 : -1;
        switch (node.type) {
        case "paragraph":
        case "heading":
            if (event.entering) line = [];
            else blocks.push(line);
            break;
        case "code_block":
            blocks.push([["code block", node.literal]]);
            break;
        case "html_block":
            blocks.push([["html block", node.literal]]);
            break;
        case "link":
            links += step;
            if (event.entering) destinations.push(node.destination);
            break;
        case "image":
            images += step;
            if (event.entering) destinations.push(node.destination);
            break;
        case "text":
            say("text", node.literal);
            break;
        case "code":
            say("code", node.literal);
            break;
        case "html_inline":
            say("html", node.literal);
            break;
        case "softbreak":
        case "linebreak":
            say("text", "\n");
            break;
        }
    }
    return { blocks, destinations };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(judge)));
