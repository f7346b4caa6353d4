const KEY = 'memfix-theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** What was chosen the last time, where the browser remembers that for a file. */
export function startTheme(): Theme {
  const kept = remembered();
  const theme = THEMES.find((each) => each === kept) ?? 'system';
  wear(theme);
  return theme;
}

export function nextTheme(now: Theme): Theme {
  const theme = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? 'system';
  wear(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
  return theme;
}

function wear(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}
