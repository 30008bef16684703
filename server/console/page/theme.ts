/** The theme: light, dark, or that of the system. */
import { signal } from '@preact/signals';

const THEME_KEY = 'fleetbed-theme';

/** In the order in which one button goes through them. */
const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const known = themes.find((each) => each === localStorage.getItem(THEME_KEY));
export const theme = signal<Theme>(known ?? 'system');

/** Shows the page in the chosen theme. */
export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

/** Goes on to the next theme. */
export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  localStorage.setItem(THEME_KEY, theme.value);
  applyTheme();
}
