/** A stretch of text, or one character that a reader would not see, by its number. */
export interface VisiblePart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** What takes no room, changes the direction of what follows, or looks like a space and is none. A tab is seen. */
const HIDDEN = /(?![\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\u115f\u1160\u3164\uffa0]/gu;

/** A text as it can be shown: hidden characters become their numbers, such as `U+202E`. */
export function visibleParts(text: string): readonly VisiblePart[] {
  const parts: VisiblePart[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > at) parts.push({ text: text.slice(at, index), isHidden: false });
    const code = character.codePointAt(0) ?? 0;
    parts.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`, isHidden: true });
    at = index + character.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isHidden: false });
  return parts;
}

/** The same for places that hold nothing but text. */
export function visible(text: string): string {
  return visibleParts(text)
    .map((part) => part.text)
    .join('');
}
