/**
 * The state of the page's session: the control token, the selected tenant, and the connection to
 * the server.
 */
import { signal } from '@preact/signals';
import { goTo } from '../address.ts';

const TOKEN_KEY = 'fleetbed-control-token';
const TENANT_KEY = 'fleetbed-tenant';

/** The control token; empty until the user has logged in. */
export const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? '');

/** The reason why the user was logged out. */
export const loginError = signal('');

/** ID of the selected tenant; empty for the first one. */
export const tenant = signal(sessionStorage.getItem(TENANT_KEY) ?? '');

/** State of the event stream. Events arrive in the state `live`. */
export const streamState = signal<'connecting' | 'live' | 'lost'>('connecting');

/** Stores the token for the lifetime of this tab. */
export function logIn(newToken: string): void {
  sessionStorage.setItem(TOKEN_KEY, newToken);
  loginError.value = '';
  token.value = newToken;
}

/** Deletes the token, and shows the reason if there is one. */
export function logOut(reason = ''): void {
  sessionStorage.removeItem(TOKEN_KEY);
  loginError.value = reason;
  token.value = '';
}

/** Shows this tenant from now on, also after the page is reloaded. */
export function chooseTenant(id: string): void {
  sessionStorage.setItem(TENANT_KEY, id);
  tenant.value = id;
}

/** Connects the tabs of the console, so that a new one needs no login of its own. */
const tabs = new BroadcastChannel('fleetbed-console');
const TOKEN_QUESTION = 'token?';

/** Takes the token of another tab of the console, if this one has none. */
function askOtherTabs(): void {
  const isAsking = token.value === '';
  tabs.onmessage = ({ data }: MessageEvent<string>): void => {
    if (data === TOKEN_QUESTION) {
      if (token.value !== '') tabs.postMessage(token.value);
    } else if (isAsking && token.value === '' && loginError.value === '') logIn(data);
  };
  if (isAsking) tabs.postMessage(TOKEN_QUESTION);
}

/** Reads the address of the page now and whenever a link to the page is opened in this tab. */
export function followAddress(): void {
  readAddress();
  addEventListener('hashchange', readAddress);
  askOtherTabs();
}

/**
 * Removes the token from the address, so that it does not stay in the browser's history. Opens the
 * explanation for links with `#request=`, which error responses contain.
 */
function readAddress(): void {
  const fragment = location.hash.slice(1);
  if (fragment.startsWith('/')) return;
  const parameters = new URLSearchParams(fragment);
  const request = parameters.get('request');
  const linkToken = parameters.get('token');
  if (linkToken) logIn(linkToken);
  if (!linkToken && request === null) return;
  const view = request === null ? '/' : `/explain/${encodeURIComponent(request)}`;
  goTo(view, { replace: true });
}
