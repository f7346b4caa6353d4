/** A path, as an import spells it. */
export function placeOf(path: string): string {
  return `.${path.replace(/\.\w+$/, '').replaceAll('/', '.')}`;
}

/** A relative import from the top of the project; of another the first two names. */
export function spelledOut(place: string, dotted: string): string {
  const level = /^\.*/.exec(dotted)?.[0].length ?? 0;
  if (level === 0) return dotted.split('.').slice(0, 2).join('.');
  const folder = place.split('.').slice(0, -level).join('.');
  const rest = dotted.slice(level);
  return rest === '' ? folder : `${folder}.${rest}`;
}
