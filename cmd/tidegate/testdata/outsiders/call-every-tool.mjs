// Calls tools with the client of the TypeScript SDK, which checks every result
// against the tool's output schema. It takes a JSON document on stdin:
//   {"url": …} or {"command": […], "cwd": …}, and "calls": [{"name", "arguments"}]
// and prints {"tools": […], "results": [{"text", "isError"}]}.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const job = JSON.parse(readFileSync(0, "utf8"));
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), cwd: job.cwd, env: process.env });
const client = new Client({ name: "tidegate-test", version: "1" });
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const results = [];
for (const call of job.calls) {
  const result = await client.callTool({ name: call.name, arguments: call.arguments });
  results.push({ text: result.content[0].text, isError: result.isError === true });
}
await client.close();
process.stdout.write(JSON.stringify({ tools, results }));
