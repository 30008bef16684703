/** The console: one page of devices, deployments and live requests of a running testbed. */
import {
  followActivity,
  forgetToken,
  keepToken,
  knownToken,
  readOverview,
  TokenRefused,
} from './connection.ts';
import { byId, type Tone } from './element.ts';
import { showExplanation } from './explanation.ts';
import { LiveList } from './live.ts';
import { showOverview } from './tables.ts';

/** Minimum time between two reads of the overview after activity. */
const REFRESH_AFTER_ACTIVITY_MS = 500;
/** Interval of reads without activity, so that presence and expiry are shown too. */
const REFRESH_QUIET_MS = 15_000;
/** Delay before a broken stream is followed again. */
const RETRY_MS = 2000;

const signIn = byId('sign-in', HTMLFormElement);
const tokenField = byId('token', HTMLInputElement);
const content = byId('content', HTMLDivElement);
const notice = byId('notice', HTMLParagraphElement);
const linkState = byId('link-state', HTMLParagraphElement);
const leave = byId('leave', HTMLButtonElement);
const live = new LiveList();

/** One session with one token; aborted when the token is refused or forgotten. */
let stay = new AbortController();

signIn.addEventListener('submit', (event) => {
  event.preventDefault();
  keepToken(tokenField.value.trim());
  tokenField.value = '';
  enter();
});
leave.addEventListener('click', () => askForToken());
window.addEventListener('hashchange', () => enter());
// Scrollable regions must be reachable by keyboard, in browsers that do not ensure it.
for (const region of document.querySelectorAll<HTMLElement>('.scroll')) region.tabIndex = 0;
enter();

function enter(): void {
  const token = knownToken();
  if (!token) {
    askForToken();
    return;
  }
  stay.abort();
  stay = new AbortController();
  live.clear();
  signIn.hidden = true;
  content.hidden = false;
  leave.hidden = false;
  showNotice(undefined);
  showLink('Connecting', 'waiting');
  void watch(token, stay.signal);
  void showExplanation(token);
}

function askForToken(why?: string): void {
  stay.abort();
  forgetToken();
  signIn.hidden = false;
  content.hidden = true;
  leave.hidden = true;
  showNotice(why);
  showLink('Not connected', 'waiting');
  tokenField.focus();
}

/** Reads the overview and follows the activity until the session ends. */
async function watch(token: string, signal: AbortSignal): Promise<void> {
  let refreshIn: number | undefined;
  const refresh = async (): Promise<void> => {
    clearTimeout(refreshIn);
    refreshIn = undefined;
    await attempt(signal, async () => {
      const overview = await readOverview(token);
      if (!signal.aborted) showOverview(overview);
    });
  };
  const quiet = setInterval(refresh, REFRESH_QUIET_MS);
  signal.addEventListener('abort', () => clearInterval(quiet));
  await refresh();
  while (!signal.aborted) {
    await attempt(signal, () =>
      followActivity(
        token,
        (activity) => {
          live.add(activity);
          refreshIn ??= setTimeout(refresh, REFRESH_AFTER_ACTIVITY_MS);
        },
        signal,
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (!signal.aborted) await refresh();
  }
}

/** Runs one exchange and shows the state of the connection after it. */
async function attempt(signal: AbortSignal, exchange: () => Promise<void>): Promise<void> {
  try {
    await exchange();
    if (signal.aborted) return;
    showLink('Live', 'good');
    showNotice(undefined);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof TokenRefused) {
      askForToken('The token was refused. Copy the one that fleetbed serve printed last.');
      return;
    }
    showLink('Connection lost', 'bad');
    const reason = error instanceof Error ? error.message : String(error);
    showNotice(`The testbed cannot be read (${reason}). Trying again.`);
  }
}

function showNotice(text: string | undefined): void {
  notice.hidden = text === undefined;
  notice.textContent = text ?? '';
}

function showLink(text: string, tone: Tone): void {
  linkState.textContent = text;
  linkState.dataset.tone = tone;
}
