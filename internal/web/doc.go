// Package web is the page: runs and changes in a browser, made on the server.
// It reads what the other packages answer and decides nothing. Where it is allowed
// to, it hands a person's decisions to the tools that take them.
//
// What agents wrote is hostile. It reaches a page through html/template alone,
// and never as Markdown or HTML, but for the report, which package synthesis
// makes and whose own policy forbids everything but its style.
package web
