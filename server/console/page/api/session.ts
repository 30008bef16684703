/** The session of the page: the control token, the selected tenant, and the connection to the server. */
import { signal } from '@preact/signals';
import { goTo } from '../address.ts';

const TOKEN_KEY = 'fleetbed-control-token';
const TENANT_KEY = 'fleetbed-tenant';

/** The control token; empty until the user has signed in. */
export const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? '');

/** Why the token of before is no longer there. */
export const signInError = signal('');

/** Id of the tenant that is looked at; empty for the first one. */
export const tenant = signal(sessionStorage.getItem(TENANT_KEY) ?? '');

/** State of the event stream; events arrive while it is `live`. */
export const link = signal<'connecting' | 'live' | 'lost'>('connecting');

/** Keeps the token for the lifetime of this tab. */
export function signIn(given: string): void {
  sessionStorage.setItem(TOKEN_KEY, given);
  signInError.value = '';
  token.value = given;
}

/** Forgets the token, and says why where there is a reason. */
export function signOut(reason = ''): void {
  sessionStorage.removeItem(TOKEN_KEY);
  signInError.value = reason;
  token.value = '';
}

/** Looks at another tenant from now on. */
export function chooseTenant(id: string): void {
  sessionStorage.setItem(TENANT_KEY, id);
  tenant.value = id;
}

/**
 * Takes the token out of the address, so that it stays in no history; leads the links that answers
 * carry (`#request=`) to their view.
 */
export function readAddress(): void {
  const fragment = location.hash.slice(1);
  if (fragment.startsWith('/')) return;
  const given = new URLSearchParams(fragment);
  const request = given.get('request');
  const known = given.get('token');
  if (known) signIn(known);
  if (!known && request === null) return;
  const view = request === null ? '/' : `/explain/${encodeURIComponent(request)}`;
  goTo(view, { replace: true });
}
