/** The mail that the server would send, kept in memory for tests to read. Nothing is ever sent. */
import type { Random } from '../../fixtures/random.ts';

/** What a message asks its reader to do: to set a first password, another one, or to confirm. */
export type MessageKind = 'invitation' | 'password-reset' | 'email-change';

/** One message; times are milliseconds since the Unix epoch. */
export interface Message {
  readonly id: string;
  readonly tenantId: string;
  readonly kind: MessageKind;
  readonly to: string;
  /** Where to POST to; it holds the secret. */
  readonly link: string;
  readonly secret: string;
  readonly createdMs: number;
  readonly expiresMs: number;
}

/** The mail that informs one user of one alert. */
export interface AlertMail {
  readonly id: string;
  readonly tenantId: string;
  readonly to: string;
  readonly deviceId: string;
  readonly subject: string;
  readonly text: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdMs: number;
}

/** The oldest message makes room for a new one; alerts have as much room of their own. */
export const OUTBOX_MAX = 1000;

/** The messages of all tenants. */
export class Outbox {
  readonly #random: Random;
  #messages: Message[] = [];
  #alerts: AlertMail[] = [];
  #dropped = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** How many messages have made room for others since the last clearing. */
  get dropped(): number {
    return this.#dropped;
  }

  post(message: Omit<Message, 'id'>): void {
    this.#messages.push({ id: this.#random.uuid(), ...message });
    this.#makeRoom(this.#messages);
  }

  postAlert(mail: Omit<AlertMail, 'id'>): void {
    this.#alerts.push({ id: this.#random.uuid(), ...mail });
    this.#makeRoom(this.#alerts);
  }

  /** All messages, the oldest first. */
  list(): readonly Message[] {
    return this.#messages;
  }

  /** All alert mails, the oldest first. */
  alerts(): readonly AlertMail[] {
    return this.#alerts;
  }

  /** Deletes the messages of one tenant. */
  forget(tenantId: string): void {
    this.#messages = this.#messages.filter((message) => message.tenantId !== tenantId);
    this.#alerts = this.#alerts.filter((mail) => mail.tenantId !== tenantId);
  }

  clear(): void {
    this.#messages = [];
    this.#alerts = [];
    this.#dropped = 0;
  }

  #makeRoom(list: unknown[]): void {
    if (list.length <= OUTBOX_MAX) return;
    list.shift();
    this.#dropped += 1;
  }
}
