/** Calls of Python's own that give variables by their names, or run a text that may read them; in code without strings. */
export const READS_NAMES = /(?<![.\w])(?:eval|exec|globals|locals|vars)[ \t]*\(/;

/** Code that may set variables of its file without naming them: a text that is run, also by a magic of a notebook. */
export const SETS_NAMES =
  /(?<![.\w])exec[ \t]*\(|(?<![.\w])globals\(\)(?:\[[^\]\n]*\][ \t]*=(?!=)|\.(?:update|setdefault)\b)|\brun_(?:cell|line_magic)\b/;

/** What gives a module by a text. */
const IMPORTS =
  /\b(?:import_module|__import__|runpy|SourceFileLoader|spec_from_file_location)\b|\bsys\.modules\b/;

/** What may give anything by a text: a variable, a module, an attribute. */
export const BY_TEXT = new RegExp(`${READS_NAMES.source}|${IMPORTS.source}|__dict__`);
