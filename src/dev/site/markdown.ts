import { Marked, type Token, type Tokens } from 'marked';
import { highlighted } from './highlight.js';
import { escaped } from './markup.js';
import type { Page } from './pages.js';

export interface Heading {
  readonly id: string;
  readonly level: number;
  /** Without Markdown's marks. */
  readonly text: string;
}

/** What a heading is followed by, for the search. */
export interface Passage {
  readonly heading: Heading;
  readonly text: string;
}

interface Piece {
  readonly file: string;
  readonly tokens: readonly Token[];
  readonly headings: ReadonlyMap<Token, Heading>;
}

/** A page that was read and has the anchors of its headings, but not yet its links. */
export interface Draft {
  readonly page: Page;
  readonly pieces: readonly Piece[];
}

/** What a page has beside its Markdown. */
export interface Extras {
  /** The address of what a file links to. */
  link(file: string, href: string): string;
  /** HTML that comes after a heading, by its anchor. */
  readonly after?: ReadonlyMap<string, string> | undefined;
  /** HTML in place of a comment. */
  readonly marks?: ReadonlyMap<string, string> | undefined;
  /** One more cell for each row of tables whose rows begin with a link. */
  readonly column?: { readonly head: string; cell(href: string): string } | undefined;
}

export function draftOf(page: Page): Draft {
  const taken = new Map<string, number>();
  const pieces = page.parts.map(({ file, text }): Piece => {
    const tokens = new Marked().lexer(text);
    const headings = tokens
      .filter(isHeading)
      .map((token) => [token, headingOf(plainText(token.tokens), token.depth, taken)] as const);
    return { file, tokens, headings: new Map(headings) };
  });
  return { page, pieces };
}

export function headingsOf({ pieces }: Draft): readonly Heading[] {
  return pieces.flatMap(({ headings }) => [...headings.values()]);
}

function headingOf(text: string, level: number, taken: Map<string, number>): Heading {
  const slug = slugOf(text);
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return { id: count === 0 ? slug : `${slug}-${count}`, level, text };
}

/** As GitHub makes them, so that links work in both places. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

export function rendered(draft: Draft, extras: Extras): string {
  return draft.pieces.map((piece) => renderedPiece(piece, extras)).join('\n');
}

function renderedPiece({ file, tokens, headings }: Piece, extras: Extras): string {
  const marked = new Marked();
  marked.use({
    renderer: {
      heading(token) {
        const heading = headings.get(token);
        const body = this.parser.parseInline(token.tokens);
        if (heading === undefined) return `<h${token.depth}>${body}</h${token.depth}>\n`;
        return `${headingHtml(heading, body)}${extras.after?.get(heading.id) ?? ''}`;
      },
      link({ href, title, tokens: inner }) {
        const name = title ? ` title="${escaped(title)}"` : '';
        return `<a href="${escaped(extras.link(file, href))}"${name}>${this.parser.parseInline(inner)}</a>`;
      },
      code({ text, lang }) {
        const language = (lang ?? '').split(/\s/)[0] ?? '';
        return codeBlock(text, language);
      },
      html({ text }) {
        const mark = /^<!-- (.*?) -->\s*$/s.exec(text)?.[1];
        return mark === undefined ? escaped(text) : (extras.marks?.get(mark) ?? '');
      },
      table(token) {
        const { column } = extras;
        const hasMore = column !== undefined && hrefIn(token.rows[0]?.[0]) !== undefined;
        const cell = (tag: string, inner: string) => `<${tag}>${inner}</${tag}>`;
        const head = token.header.map(({ tokens: inner }) => headCell(this.parser.parseInline(inner)));
        if (hasMore) head.push(headCell(column.head));
        const rows = token.rows.map((row) => {
          const cells = row.map(({ tokens: inner }) => cell('td', this.parser.parseInline(inner)));
          if (hasMore) cells.push(cell('td', column.cell(hrefIn(row[0]) ?? '')));
          return `<tr>${cells.join('')}</tr>\n`;
        });
        return `<div class="scroll" role="group" aria-label="Table" tabindex="0"><table${hasMore ? ' class="listing"' : ''}>\n<thead><tr>${head.join('')}</tr></thead>\n<tbody>\n${rows.join('')}</tbody></table></div>\n`;
      },
    },
  });
  return marked.parser([...tokens]);
}

/** A head without words is no head. */
function headCell(inner: string): string {
  return inner === '' ? '<td></td>' : `<th scope="col">${inner}</th>`;
}

function headingHtml({ id, level, text }: Heading, body: string): string {
  const anchor = `<a class="anchor" href="#${id}" aria-label="Link to “${escaped(text)}”">#</a>`;
  return `<h${level} id="${id}">${body}${level === 1 ? '' : ` ${anchor}`}</h${level}>\n`;
}

export function codeBlock(text: string, language: string): string {
  const kind = language === '' ? 'terminal' : language;
  return `<div class="code ${escaped(kind)}"><pre tabindex="0"><code>${highlighted(text, language)}</code></pre></div>\n`;
}

/** What is found of a page, heading by heading. Figures in tables are no words to search for. */
export function passagesOf({ pieces, page }: Draft): readonly Passage[] {
  const passages: { heading: Heading; texts: string[] }[] = [];
  const top: Heading = { id: '', level: 1, text: page.title };
  const all = pieces.flatMap(({ tokens, headings }) => tokens.map((token) => ({ token, headings })));
  for (const { token, headings } of all) {
    const heading = headings.get(token);
    const text = heading === undefined ? plainText([token]) : '';
    if (heading !== undefined) passages.push({ heading, texts: [] });
    else if (passages.length === 0 && text !== '') passages.push({ heading: top, texts: [text] });
    else passages.at(-1)?.texts.push(text);
  }
  return passages.map(({ heading, texts }) => ({
    heading,
    text: texts.join(' ').replace(/\s+/g, ' ').trim(),
  }));
}

/** The words that a reader sees. */
function plainText(tokens: readonly Token[] = []): string {
  return tokens
    .map((token) => {
      if (isTable(token)) {
        const rows = [token.header, ...token.rows];
        return rows
          .map((row) =>
            row
              .map((cell) => plainText(cell.tokens))
              .filter(isWords)
              .join(' '),
          )
          .join(' ');
      }
      if (isList(token)) return token.items.map((item) => plainText(item.tokens)).join(' ');
      if (token.type === 'html' || token.type === 'space') return '';
      const inner = 'tokens' in token ? token.tokens : undefined;
      if (inner !== undefined && inner.length > 0)
        return plainText(inner) + (token.type === 'paragraph' ? ' ' : '');
      return 'text' in token ? String(token.text) : '';
    })
    .join('');
}

function isWords(text: string): boolean {
  return /\p{L}{3,}/u.test(text);
}

function hrefIn(cell: Tokens.TableCell | undefined): string | undefined {
  const [first] = cell?.tokens ?? [];
  return first?.type === 'link' ? String(first.href) : undefined;
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}

function isList(token: Token): token is Tokens.List {
  return token.type === 'list';
}
