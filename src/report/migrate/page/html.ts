import { createHash } from 'node:crypto';
import type { PageData, PageDetail } from './data.js';
import { visible } from './visible.js';

/** The page's own program and looks, bundled. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/** One file that needs no other: nothing is loaded from anywhere, and only this very script and style count. */
export function pageHtml(data: PageData, details: readonly PageDetail[], assets: PageAssets): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policyOf(data, assets)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(visible(data.title))} · memfix</title>`,
    `<style>${assets.style}</style>`,
    '</head>',
    '<body>',
    '<noscript>This page needs JavaScript; `memfix migrate status` says the same in a terminal.</noscript>',
    // The whole first, then each repository's own.
    ...[data, ...details].map((each) => `<script type="application/json">${embedded(each)}</script>`),
    `<script>${assets.script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** Text from repositories never becomes code: no script but ours runs, and none of ours makes elements out of text. */
export function policyOf({ isReview }: Pick<PageData, 'isReview'>, { script, style }: PageAssets): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    ...(isReview ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** What could end a script, open a comment, break a line or turn around how the file reads. */
const DANGEROUS = /[<>&\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** JSON that is harmless wherever it stands, whatever it is about. */
export function embedded(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    DANGEROUS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
