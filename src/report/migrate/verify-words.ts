const PROVE = /^(?:memfix\s+prove\b|prove:)/;
const PROOF = /^(?:memfix\s+prove\s+--|prove:)\s+(\S.*)$/s;

/** The command that decides about each fix: `prove: python train.py`. */
export function provenCommand(words: string): string | undefined {
  return PROOF.exec(words)?.[1];
}

/** What is wrong with the words of a check, as the end of a sentence. */
export function verifyProblem(words: string): string | undefined {
  if (!PROVE.test(words) || PROOF.test(words)) return undefined;
  return 'starts with `prove:` or `memfix prove`, which is followed by a command, or by ` -- ` and one, and takes no options';
}
