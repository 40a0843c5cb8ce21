// Serves a built page on this machine only, under a sub-path, the way a course site would.
//   node tests/e2e/serve.mjs [--dist dist] [--base /course/galley/] [--port 0]

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

export const root = fileURLToPath(new URL("../..", import.meta.url));

const types = {
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** The file that a request path names inside `dist`, or null where it names none. */
function file(dist, base, path) {
  if (!path.startsWith(base)) return null;
  const inside = path.slice(base.length) || "index.html";
  const found = normalize(join(dist, inside));
  return found.startsWith(dist + sep) ? found : null;
}

/**
 * Starts the server; port 0 takes any free one. `pages` are further pages by request path, such as a host page that
 * embeds this one. Resolves to `{url, origin, close}`.
 */
export async function serve({ dist = join(root, "dist"), base = "/course/galley/", port = 0, pages = {} } = {}) {
  dist = resolve(dist);
  const server = createServer(async (request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
      if (path + "/" === base) {
        response.writeHead(301, { location: base }).end();
        return;
      }
      const name = file(dist, base, path);
      let body = pages[path] ?? (name ? await readFile(name) : null);
      if (body === null) throw Object.assign(new Error("outside"), { code: "ENOENT" });
      const headers = {
        "content-type": pages[path] ? types[".html"] : (types[extname(name)] ?? "application/octet-stream"),
        "cache-control": "no-cache",
        vary: "accept-encoding",
      };
      if (/\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) {
        body = await compress(body);
        headers["content-encoding"] = "gzip";
      }
      response.writeHead(200, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
    } catch (error) {
      const missing = error.code === "ENOENT" || error.code === "EISDIR";
      response.writeHead(missing ? 404 : 500, { "content-type": "text/plain" }).end(missing ? "not found" : "failed");
    }
  });
  await new Promise((done, failed) => server.once("error", failed).listen(port, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    url: origin + base,
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      dist: { type: "string" },
      base: { type: "string" },
      port: { type: "string", default: "0" },
    },
  });
  const { url } = await serve({ ...values, port: Number(values.port) });
  console.log(url);
}
