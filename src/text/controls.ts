/** Control characters and line breaks, except the tab. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/;

/** Whether a name, path or setting has what none needs: in a report it could pass for a line of its own. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}
