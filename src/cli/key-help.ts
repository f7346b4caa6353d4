interface KeyHelp {
  readonly key: string;
  readonly does: string;
}

/** The keys of a review, in the order in which its help tells them. */
export const KEYS: readonly KeyHelp[] = [
  { key: 'y', does: 'yes to what is asked, and apply this fix' },
  { key: 'n', does: 'skip it' },
  { key: 'Y', does: 'as y, and remember the yes in the config, here or for all like it' },
  { key: '1-9', does: 'show that one of several alternatives; y takes it and leaves the others' },
  { key: 'l', does: 'apply it and those in a row after it that are like it' },
  {
    key: 'a',
    does: 'apply it and the rest of this file: of a safe one, what is safe (advice needs its own y)',
  },
  { key: 'd', does: 'skip it and the rest of this file' },
  {
    key: 'A',
    does: 'apply all of this transform, in every file: of a safe one, what is safe (advice needs its own y)',
  },
  { key: 'D', does: 'skip all of this transform, in every file' },
  { key: 'e', does: 'edit the replacement in $VISUAL, $EDITOR or the editor of git' },
  { key: 's', does: 'suppress it with a comment, with a reason if you like' },
  { key: 'j', does: 'next finding' },
  { key: 'k', does: 'previous finding' },
  {
    key: '/',
    does: 'go to a finding: by number, `train.py:36`, or words of path, transform or code; so does g',
  },
  { key: 'u', does: 'undo the last answer, and its yes for good' },
  { key: 'i', does: 'all about this finding: every question, the evidence, the page of its transform' },
  { key: 'Space', does: 'scroll a change that is longer than the window; so do the arrow keys' },
  { key: 'p', does: 'print this finding again, with its whole change' },
  { key: 'q', does: 'quit and keep what was accepted; so does Ctrl-D' },
  { key: '?', does: 'this help' },
];
