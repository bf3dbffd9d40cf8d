// Reads a JSON array of documents and writes, for each of them, what commonmark
// says of its blocks: top-level ATX headings, the place of each line, passages.
import * as commonmark from "commonmark";
import { readFileSync } from "node:fs";

const atx = /^ {0,3}#{1,6}(?:[ \t]|$)/;

function judge(doc) {
    const lines = doc.split(/\r\n|\n|\r/);
    const parser = new commonmark.Parser();
    // Inlines do not matter; the raw text of a block does.
    parser.inlineParser.parse = (block) => { block.raw = block._string_content; };
    const tree = parser.parse(doc);

    const headings = [];
    for (let node = tree.firstChild; node; node = node.next) {
        const line = node.sourcepos[0][0];
        if (node.type === "heading" && atx.test(lines[line - 1].replace(/^\uFEFF/, ""))) {
            headings.push({ line, level: node.level, text: node.raw });
        }
    }

    const places = lines.map(() => 0);
    const walker = tree.walker();
    const passages = [];
    let open = null;
    const flush = () => {
        if (open && open.text.length > 0) {
            passages.push({ line: open.line, item: open.item, text: open.text.join("\n") });
        }
        open = null;
    };
    const add = (text) => {
        for (const line of text.split("\n")) {
            if (line.trim() !== "") open.text.push(line.trim());
        }
    };
    let event;
    while ((event = walker.next())) {
        const node = event.node;
        const start = node.sourcepos[0][0];
        if (!event.entering) {
            if (node.type === "item" && open && open.node === node) flush();
            continue;
        }
        const html = node.type === "html_block";
        if (html || node.type === "code_block" && node._isFenced) {
            const place = !html ? 1 : node._htmlBlockType === 2 ? 2 : 3;
            for (let i = start; i <= node.sourcepos[1][0]; i++) places[i - 1] = place;
            for (let up = node.parent; up; up = up.parent) {
                if (up.type === "item" && up.sourcepos[0][0] === start) places[start - 1] = 0;
            }
        }
        switch (node.type) {
        case "item":
            flush();
            open = { line: start, item: true, node, text: [] };
            break;
        case "paragraph":
            if (!open) {
                // Where definitions stand before an underline, the parser loses
                // count of their lines.
                open = { line: 0, item: false, text: [] };
                add(node.raw);
                flush();
            } else {
                add(node.raw);
            }
            break;
        case "heading":
            if (open) add(node.raw);
            break;
        case "code_block":
            if (open) add(node.literal);
            break;
        case "html_block":
            if (open && node._htmlBlockType !== 2) add(node.literal);
            break;
        }
    }
    flush();
    return { headings, places, passages };
}

const docs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(docs.map(judge)));
