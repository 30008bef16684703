/**
 * The current location within the page, stored in the fragment of the address as a path and a
 * query.
 */
import { computed, signal } from '@preact/signals';

const fragment = signal(location.hash);
addEventListener('hashchange', () => {
  fragment.value = location.hash;
});

const parts = computed(() => {
  const [path = '', query = ''] = fragment.value.replace(/^#?\/?/, '').split('?', 2);
  return { path: `/${path}`, query };
});

/** Navigates to a path, with or without a query. */
export function goTo(target: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${target}`);
  fragment.value = location.hash;
}

/** The location hook for the router. */
export function useAddress(): [string, (path: string, options?: { replace?: boolean }) => void] {
  return [parts.value.path, goTo];
}

useAddress.hrefs = (href: string): string => `#${href}`;

/** Returns a parameter of the query, empty if absent, and a function that changes it. */
export function useQuery(name: string): [string, (value: string) => void] {
  const { path, query } = parts.value;
  const value = new URLSearchParams(query).get(name) ?? '';
  const change = (next: string): void => {
    const parameters = new URLSearchParams(parts.peek().query);
    if (next === '') parameters.delete(name);
    else parameters.set(name, next);
    goTo(parameters.size === 0 ? path : `${path}?${parameters}`, { replace: true });
  };
  return [value, change];
}
