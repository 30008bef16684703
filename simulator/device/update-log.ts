/** The log of one update, as the device uploads it when the update fails. Spec: DeploymentLog */
import type { Clock } from '../../fixtures/clock.ts';
import type { DeploymentLog } from '../../fixtures/contract/resources.ts';

/** Lines that are kept; further ones are dropped and the last line says so. */
const LINES_MAX = 1000;

/** Collects lines with their time. */
export class UpdateLog {
  readonly #clock: Clock;
  readonly #messages: DeploymentLog['messages'] = [];
  #dropped = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(level: 'debug' | 'info' | 'warning' | 'error', message: string): void {
    if (this.#messages.length === LINES_MAX) this.#dropped++;
    else this.#messages.push({ timestamp: this.#timestamp(), level, message });
  }

  /** The log as the upload carries it. */
  body(): DeploymentLog {
    if (this.#dropped === 0) return { messages: this.#messages };
    const message = `${this.#dropped} more lines were dropped`;
    const note = { timestamp: this.#timestamp(), level: 'warning', message };
    return { messages: [...this.#messages, note] };
  }

  #timestamp(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
