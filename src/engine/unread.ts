import { pythonProblem } from '../syntax/soundness.js';
import { Lines } from '../text/lines.js';
import { cellsIn, positionInCells } from '../text/notebook/notebook.js';
import { placeText } from '../text/place.js';
import type { FoundFile } from './door.js';

/** What a person has to mend before the file says anything: `` `nets.py:12` cannot be read ``. */
export function whyUnread(file: FoundFile, largest: number): string {
  if (file.length > largest) return `\`${file.path}\` is too long to be looked into`;
  const text = file.read()?.text;
  const at = text === undefined ? undefined : pythonProblem(text)?.at;
  if (text === undefined || at === undefined) return `\`${file.path}\` cannot be read`;
  const told = positionInCells(new Lines(text), cellsIn(text));
  return `\`${placeText(file.path, told(at))}\` cannot be read`;
}
