// Writes .br and .gz beside each built file, so that the server never compresses anything itself.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const dist = new URL("dist", import.meta.url).pathname;
for (const name of fs.readdirSync(dist, { recursive: true })) {
  const file = path.join(dist, name);
  if (!fs.statSync(file).isFile() || !/\.(js|css|html|svg|json)$/.test(file)) continue;
  const bytes = fs.readFileSync(file);
  const br = zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } });
  // The nonce is written into index.html for each answer: it goes out as it is.
  if (path.basename(file) === "index.html" || br.length >= bytes.length) continue;
  fs.writeFileSync(`${file}.br`, br);
  fs.writeFileSync(`${file}.gz`, zlib.gzipSync(bytes, { level: 9 }));
}
