import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';

/**
 * What this process knows to be secret, and the last line before anything is written, sent or printed: whatever quotes a
 * secret by mistake quotes `***`.
 */

type Env = Readonly<Record<string, string | undefined>>;

const HIDDEN = '***';

/** Parts of a variable's name, between underscores. */
const SECRET_PARTS =
  /^(?:(?:\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|CREDENTIAL))S?|PASS|PWD|PAT|JWT|AUTH|COOKIE)$/;
/** A key is a secret unless what stands before or after it says otherwise. */
const OPEN_KEYS =
  /(?:^|_)(?:PROJECT|CACHE|CONFIG|PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|GROUP|TEAM)_KEYS?(?:_|$)/;
const OPEN_NAMES = /^(?:PWD|OLDPWD)$|_(?:SOCK|FILE|PATH|DIR|NAME|URL|HOST|PORT|TYPE|USER)$/;

/** Whether the value of an environment variable is a secret, by the variable's name. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  if (upper.startsWith('MEMFIX_TOKEN_')) return true;
  if (OPEN_NAMES.test(upper)) return false;
  const parts = upper.split(/[^A-Z0-9]+/);
  if (parts.some((part) => SECRET_PARTS.test(part))) return true;
  return parts.some((part) => /^KEYS?$/.test(part)) && !OPEN_KEYS.test(upper);
}

/** Shorter ones would be found in ordinary text. */
const SHORTEST = 8;
/** From here on, a word of one kind of characters is no ordinary word any more. */
const LONG = 12;
const KINDS = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/];

/** Every spelling of every secret, longest first, so that none leaves its end behind. */
let spellings: readonly string[] = [];
const learned = new WeakSet<Env>();

/** To be called at the start of whatever writes or sends the words of others. */
export function learnSecrets(env: Env): void {
  if (learned.has(env)) return;
  learned.add(env);
  for (const [name, value = ''] of Object.entries(env)) {
    // A path to a secret is none.
    if (isSecretName(name) && !(isAbsolute(value) && existsSync(value))) learnSecret(value);
    learnPassword(value);
    for (const [, credential = ''] of value.matchAll(/\b(?:basic|bearer) +(\S+)/gi)) learnSecret(credential);
  }
}

/** The password of a URL, or the token that stands in place of its user. */
export function learnPassword(value: string): void {
  if (!value.includes('://') || !URL.canParse(value)) return;
  const { username, password } = new URL(value);
  learnSecret(password === '' ? username : password);
}

export function learnSecret(value: string): void {
  // Of a private key, each line is one.
  const words = value.split(/\r?\n/).map((line) => line.trim());
  const found = words.filter(isTelling).flatMap(spellingsOf);
  spellings = [...new Set([...spellings, ...found])].sort((a, b) => b.length - a.length);
}

function isTelling(word: string): boolean {
  if (word.length < SHORTEST || word.startsWith('-----')) return false;
  return word.length >= LONG || KINDS.filter((kind) => kind.test(word)).length > 1;
}

/** As it is, in JSON, in HTML and in a URL. */
function spellingsOf(word: string): readonly string[] {
  const html = word.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const plain = URL.canParse(`x://x/${word}`) ? decoded(word) : word;
  return [word, plain, JSON.stringify(word).slice(1, -1), html, encodeURIComponent(word)].filter(isTelling);
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** A text without the credentials of URLs in it. */
export function scrubbed(text: string): string {
  return text.replaceAll(/:\/\/[^\s/@'"]+@/g, '://');
}

/** A text without the credentials of URLs and without any secret that this process knows. */
export function redacted(text: string): string {
  let clean = scrubbed(text);
  for (const secret of spellings) if (clean.includes(secret)) clean = clean.replaceAll(secret, HIDDEN);
  return clean;
}

/** The same for bytes that are mostly text. */
export function redactedBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const known = spellings.map((secret) => Buffer.from(secret).toString('latin1'));
  const clean = known.reduce((at, secret) => at.replaceAll(secret, HIDDEN), scrubbed(text));
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

/** What names things, and is no text of anybody: a word in it that happens to be a password stays. */
const NAMES: ReadonlySet<string> = new Set([
  ...['id', 'name', 'url', 'key', 'ref', 'plan', 'path', 'patch', 'files', 'branch', 'commit', 'commits'],
  ...['hash', 'likeness', 'sha256', 'transform', 'stage', 'version', 'at', 'home', 'command'],
]);

/** A value of plain data with redacted texts, names of things aside. */
export function redactedValue<T>(value: T): T {
  return cleaned(value, false) as T;
}

function cleaned(value: unknown, isName: boolean): unknown {
  if (typeof value === 'string') return isName ? value : redacted(value);
  if (Array.isArray(value)) return value.map((each) => cleaned(each, isName));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each, NAMES.has(key))]));
}
