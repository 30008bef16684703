/** The location within the page, stored in the fragment of the address: a path and a query. */
import { computed, signal } from '@preact/signals';

const fragment = signal(location.hash);
addEventListener('hashchange', () => {
  fragment.value = location.hash;
});

const parts = computed(() => {
  const [path = '', query = ''] = fragment.value.replace(/^#?\/?/, '').split('?', 2);
  return { path: `/${path}`, query };
});

/** Leads to a path, with or without a query. */
export function goTo(target: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${target}`);
  fragment.value = location.hash;
}

/** The location hook that the router takes. */
export function useAddress(): [string, (path: string, options?: { replace?: boolean }) => void] {
  return [parts.value.path, goTo];
}

useAddress.hrefs = (href: string): string => `#${href}`;

/** A parameter of the query and how to change it; empty when it is not there. */
export function useQuery(name: string): [string, (value: string) => void] {
  const { path, query } = parts.value;
  const value = new URLSearchParams(query).get(name) ?? '';
  const change = (next: string): void => {
    const given = new URLSearchParams(parts.peek().query);
    if (next === '') given.delete(name);
    else given.set(name, next);
    goTo(given.size === 0 ? path : `${path}?${given}`, { replace: true });
  };
  return [value, change];
}
