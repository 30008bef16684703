/** The colour theme: light, dark, or the system's. */
import { signal } from '@preact/signals';

const THEME_KEY = 'fleetbed-theme';

/** The order in which the theme button cycles. */
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const storedTheme = themes.find((each) => each === localStorage.getItem(THEME_KEY));
export const theme = signal<Theme>(storedTheme ?? 'system');

/** Applies the selected theme to the page. */
export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

/** Switches to the next theme. */
export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  localStorage.setItem(THEME_KEY, theme.value);
  applyTheme();
}
