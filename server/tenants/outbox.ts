/** Keeps the mail that the server would send in memory, for tests to read. No mail is sent. */
import type { Random } from '../../fixtures/base/random.ts';

/**
 * The purpose of a message: to set a first password, to reset a password, or to confirm a new
 * address.
 */
export type MessageKind = 'invitation' | 'password-reset' | 'email-change';

/** A message to a user. Times are milliseconds since the Unix epoch. */
export interface OutboxMessage {
  readonly id: string;
  readonly tenantId: string;
  readonly kind: MessageKind;
  readonly to: string;
  /** URL for the POST that confirms the change; it contains the secret. */
  readonly link: string;
  readonly secret: string;
  readonly createdMs: number;
  readonly expiresMs: number;
}

/** A mail that informs a user of an alert. */
export interface AlertMail {
  readonly id: string;
  readonly tenantId: string;
  readonly to: string;
  readonly deviceId: string;
  readonly subject: string;
  readonly text: string;
  /** Time of creation, in milliseconds since the Unix epoch. */
  readonly createdMs: number;
}

/** Maximum number of messages, and of alert mails; a new one replaces the oldest. */
export const OUTBOX_MAX = 1000;

/** The mail of all tenants. */
export class Outbox {
  readonly #random: Random;
  #messages: OutboxMessage[] = [];
  #alerts: AlertMail[] = [];
  #dropped = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Number of mails that were dropped for newer ones since the last `clear`. */
  get dropped(): number {
    return this.#dropped;
  }

  post(message: Omit<OutboxMessage, 'id'>): void {
    this.#messages.push({ id: this.#random.uuid(), ...message });
    this.#makeRoom(this.#messages);
  }

  postAlert(mail: Omit<AlertMail, 'id'>): void {
    this.#alerts.push({ id: this.#random.uuid(), ...mail });
    this.#makeRoom(this.#alerts);
  }

  /** Returns all messages, oldest first. */
  list(): readonly OutboxMessage[] {
    return this.#messages;
  }

  /** Returns all alert mails, oldest first. */
  alerts(): readonly AlertMail[] {
    return this.#alerts;
  }

  /** Deletes the messages and alert mails of one tenant. */
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
