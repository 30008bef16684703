/** The list of answered requests, newest first. */
import { byId, element, moment } from './element.ts';
import type { Activity } from './overview.ts';

/** Maximum rows; older ones are removed. */
const ROWS_MAX = 200;

/** The live list with its pause button; rows are added in batches, at most once a frame. */
export class LiveList {
  readonly #list = byId('live', HTMLOListElement);
  readonly #hint = byId('live-hint', HTMLParagraphElement);
  readonly #pause = byId('pause', HTMLButtonElement);
  #waiting: Activity[] = [];
  #isPaused = false;

  constructor() {
    this.#pause.addEventListener('click', () => this.#toggle());
  }

  add(activity: Activity): void {
    this.#waiting.unshift(activity);
    this.#waiting.length = Math.min(this.#waiting.length, ROWS_MAX);
    if (this.#waiting.length === 1) requestAnimationFrame(() => this.#show());
  }

  clear(): void {
    this.#waiting = [];
    this.#list.replaceChildren();
    this.#hint.hidden = false;
  }

  #toggle(): void {
    this.#isPaused = !this.#isPaused;
    this.#pause.setAttribute('aria-pressed', String(this.#isPaused));
    this.#pause.textContent = this.#isPaused ? 'Resume' : 'Pause';
    this.#show();
  }

  #show(): void {
    if (this.#isPaused || this.#waiting.length === 0) return;
    this.#list.prepend(...this.#waiting.map(row));
    this.#waiting = [];
    while (this.#list.childElementCount > ROWS_MAX) this.#list.lastElementChild?.remove();
    this.#hint.hidden = true;
  }
}

function row(activity: Activity): HTMLLIElement {
  const { status, method, operation, deviceId, requestId } = activity;
  return element(
    'li',
    { title: `request ${requestId}` },
    element('span', { class: 'code', 'data-tone': toneOf(status) }, String(status)),
    element('span', { class: 'what' }, element('b', {}, operation), ` ${method}`),
    element('span', { class: 'who' }, deviceId ? `device ${deviceId.slice(0, 8)}` : ''),
    moment(activity.at),
  );
}

function toneOf(status: number): string {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'busy' : 'good';
}
