import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from '../project.js';
import type { Draft } from './markdown.js';

/** Where the links of the repository's files lead to in the site. */
export class Links {
  /** `README.md#install` and `README.md`, with the page and the anchor that it is now. */
  readonly #addresses = new Map<string, string>();
  /** Files that are linked to and are no pages, by the path of the page that shows them. */
  readonly sources = new Map<string, string>();

  constructor(drafts: readonly Draft[]) {
    for (const { page, pieces } of drafts)
      for (const { file, headings } of pieces) {
        if (!this.#addresses.has(file)) this.#addresses.set(file, page.path);
        for (const { id } of headings.values()) this.#addresses.set(`${file}#${id}`, `${page.path}#${id}`);
      }
  }

  /** For a page: what `href` means in this file. A link that leads nowhere ends the build. */
  from(page: string, file: string, href: string): string {
    if (/^[a-z]+:/.test(href)) return href;
    const [path = '', anchor] = this.#address(file, href).split('#');
    const tail = anchor === undefined ? '' : `#${anchor}`;
    if (path === page && tail !== '') return tail;
    return `${posix.relative(posix.dirname(page), path)}${tail}`;
  }

  #address(file: string, href: string): string {
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? file : posix.join(posix.dirname(file), path);
    const known = this.#addresses.get(anchor === undefined ? target : `${target}#${anchor}`);
    if (known !== undefined) return known;
    if (anchor !== undefined || target.startsWith('..') || !existsSync(join(root, target)))
      throw new Error(`${file} links to ${href}, which leads nowhere`);
    const shown = `files/${target}.html`;
    this.sources.set(shown, target);
    return shown;
  }
}
