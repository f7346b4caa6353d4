/** `npm run site [-- folder]`: the documentation as a static site, which needs no server and asks nobody for anything. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { transforms } from '../../transforms/index.js';
import { root } from './project.js';
import { siteFiles } from './site/build.js';

const folder = resolve(process.argv[2] ?? join(root, 'site'));
const files = await siteFiles(transforms.map(({ meta }) => meta));
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, 'site.css'))) {
  process.stderr.write(
    `${folder} has something else in it\n  It would be replaced as a whole.\n  Next: name a folder that is new, or a site made before.\n`,
  );
  process.exit(2);
}
rmSync(folder, { recursive: true, force: true });
for (const [path, text] of files) {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}
const size = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
process.stdout.write(
  `${files.size} files, ${(size / 1e6).toFixed(1)} MB: open ${join(folder, 'index.html')}\n`,
);
