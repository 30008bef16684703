/** The testbed of a scene: a server, one client, and the judge of their exchanges. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClientJudge } from '../../conformance/client-judge/client-judge.ts';
import type { ClientVerdict } from '../../conformance/client-judge/client-verdict.ts';
import type { SessionStep } from '../../conformance/client-judge/report/client-test-result.ts';
import { sessionLine } from '../../conformance/client-judge/report/session-line.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ServerEvent } from '../../fixtures/control/client-event.ts';
import { startTestbed, type Testbed } from '../../server/testbed.ts';
import { ClientProcess, filledCommand, printedBy } from './client-process.ts';
import { type ConditionName, conditions, lastPoll } from './conditions.ts';
import { type CountingRelay, openCountingRelay } from './counting-relay.ts';
import { sessionOf } from './evidence.ts';
import { CLIENT, type ObservedEvent, ObservedEvents } from './observed-events.ts';
import { REFUSED_CONNECTIONS_MIN, REFUSED_MAX_MS, type Scene, SceneStopped } from './scene.ts';
import { ServerUser } from './server-user.ts';

/** How the client is started, and what its author says about it. */
export interface ClientStartOptions {
  /** Undefined for a client that its author starts by hand. */
  readonly command: string | undefined;
  /** Address at which the client reaches this machine. */
  readonly advertise: string;
  /** Port of the server; 0 for any. A client that is started by hand needs the same each time. */
  readonly port: number;
  /** Vendor prefix of the API's header names. */
  readonly headerPrefix: string;
  /** Commands that switch the client's power, in place of killing its process. */
  readonly powerOff?: string | undefined;
  readonly powerOn?: string | undefined;
  /** A command that prints the name of what is installed. */
  readonly installed?: string | undefined;
  /** Name of the update module for which artifacts are made. */
  readonly payloadType: string;
  readonly seed: string;
  /** Folder for the folders and the output of clients. */
  readonly folder: string;
}

/** A server with one client. It must be closed, which also kills the client. */
export class ClientTestbed {
  readonly #options: ClientStartOptions;
  readonly #server: Testbed;
  readonly #folder: string;
  readonly #client: ClientProcess;
  readonly #signal: AbortSignal;
  readonly events: ObservedEvents;
  readonly judge: ClientJudge;
  /** The user of the server. */
  readonly user: ServerUser;
  readonly #serverEvents: ServerEvent[] = [];
  #starts = 0;
  /** True once the client was started by its power. */
  #isSwitched = false;
  #cursor = 0;
  #faultyRelay: CountingRelay | undefined;
  #plainServer: Testbed | undefined;

  private constructor(parts: {
    readonly options: ClientStartOptions;
    readonly server: Testbed;
    readonly folder: string;
    readonly events: ObservedEvents;
    readonly judge: ClientJudge;
    readonly signal: AbortSignal;
  }) {
    this.#options = parts.options;
    this.#server = parts.server;
    this.#folder = parts.folder;
    this.events = parts.events;
    this.judge = parts.judge;
    this.#signal = parts.signal;
    this.user = new ServerUser({
      testbed: parts.server,
      payloadType: parts.options.payloadType,
      seed: parts.options.seed,
      lastPoll: () => lastPoll(this.events.all),
      recordEvent: (event, about) => this.recordEvent(event, about),
    });
    this.#client = new ClientProcess(join(parts.folder, 'output.txt'), () => this.events.wake());
    parts.signal.addEventListener('abort', () => this.events.wake());
  }

  /** Starts a server for scenes that need the same of it. Rejects as `startTestbed` does. */
  static async open(
    options: ClientStartOptions,
    scene: Pick<Scene, 'name' | 'server' | 'needs'>,
    {
      signal,
      intervalMs,
    }: { readonly signal: AbortSignal; readonly intervalMs?: number | undefined },
  ): Promise<ClientTestbed> {
    const judge = new ClientJudge(() => undefined, intervalMs);
    const folder = join(options.folder, scene.name.replaceAll(/[^\w-]+/g, '-'));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    let baseUrl = 'http://localhost';
    const events = new ObservedEvents(
      (event) => judge.judge(event),
      () => baseUrl,
    );
    const isLocal = options.advertise === '127.0.0.1';
    const server = await startTestbed({
      ...scene.server,
      seed: `${options.seed}/${scene.name}`,
      port: options.port,
      observer: events.observer,
      headerPrefix: options.headerPrefix,
      ...(!isLocal && { host: '0.0.0.0' }),
      ...(usesTls(options) && {
        tls: { names: isLocal ? [] : [options.advertise], brokenTls: scene.needs === 'tls' },
      }),
    });
    baseUrl = server.baseUrl;
    if (server.caPem !== undefined) writeFileSync(join(folder, 'ca.pem'), server.caPem);
    return new ClientTestbed({ options, server, folder, events, judge, signal });
  }

  /** The address for the client. */
  get url(): string {
    return this.#advertisedUrl(this.#server.baseUrl);
  }

  /**
   * The steps so far, in order: requests with their responses, events of sockets and of the server.
   */
  get session(): readonly SessionStep[] {
    return sessionOf([...this.events.all.map(({ event }) => event), ...this.#serverEvents]);
  }

  /** Writes the steps so far, a line each, into the folder with the client's output. */
  writeLog(): void {
    const text = `${this.session.map(sessionLine).join('\n')}\n`;
    writeFileSync(join(this.#folder, LOG_FILE), text, { mode: 0o600 });
  }

  /** The judge's verdict on the client; undefined if it did nothing yet. */
  get verdict(): ClientVerdict | undefined {
    return this.judge.verdict(CLIENT);
  }

  /** Records an event, and passes it to the judge. */
  recordEvent(name: ServerEvent['event'], about?: string): void {
    const event: ServerEvent = {
      kind: 'server',
      event: name,
      client: CLIENT,
      atMs: systemClock.monotonicMs(),
      ...(about !== undefined && { about }),
    };
    this.#serverEvents.push(event);
    this.judge.judge(event);
  }

  /** From here on only requests that begin to end later are waited for. */
  mark(): void {
    this.#cursor = this.events.all.length;
  }

  /** From here on every request counts again. */
  rewind(): void {
    this.#cursor = 0;
  }

  /** Resolves with the first authentication request; undefined after this time. */
  async waitForAuthRequest(withinMs: number): Promise<ObservedEvent | undefined> {
    this.rewind();
    return this.waitFor('authentication request', withinMs);
  }

  /** When something was last done, on a monotonic clock in milliseconds; undefined if never. */
  lastEventMs(event: ServerEvent['event']): number | undefined {
    return this.#serverEvents.findLast((each) => each.event === event)?.atMs;
  }

  /**
   * Waits for a request after the one that was awaited last.
   * @throws SceneStopped if the client died or floods, or the client test ends
   */
  async waitFor(name: ConditionName, withinMs: number): Promise<ObservedEvent | undefined> {
    const matches: (seen: ObservedEvent) => boolean = conditions[name];
    const from = this.#cursor;
    let foundEvent: ObservedEvent | undefined;
    const look = (): boolean => {
      for (; this.#cursor < this.events.all.length && !foundEvent; this.#cursor += 1) {
        const event = this.events.all[this.#cursor];
        if (event && matches(event)) foundEvent = event;
      }
      return foundEvent !== undefined || this.#problem() !== undefined;
    };
    await this.events.until(look, withinMs);
    if (foundEvent === undefined) {
      this.#requireRunning();
      // Something else may have come, for which the next step waits.
      this.#cursor = from;
    }
    return foundEvent;
  }

  /** Lets the client go on. @throws SceneStopped as `waitFor` does */
  async idle(forMs: number): Promise<void> {
    await this.events.until(() => this.#problem() !== undefined, forMs);
    this.#requireRunning();
    this.mark();
  }

  /**
   * Resolves once the client has a WebSocket, or after this time. @throws SceneStopped as `waitFor`
   * does
   */
  async waitForSocket(withinMs: number): Promise<void> {
    const isEnough = (): boolean => this.events.isConnected || this.#problem() !== undefined;
    await this.events.until(isEnough, withinMs);
    this.#requireRunning();
  }

  /** Resolves once nothing is due any more, or after this time. */
  async waitUntilIdle(withinMs: number): Promise<void> {
    const endMs = systemClock.monotonicMs() + withinMs;
    const isIdle = (): boolean =>
      this.#problem() !== undefined ||
      !(this.verdict?.duties.some(({ state }) => state === 'open') ?? false);
    while (systemClock.monotonicMs() < endMs && !isIdle()) await this.events.until(isIdle, 500);
  }

  #problem(): string | undefined {
    if (this.#signal.aborted) return 'the client test was interrupted';
    const { flood } = this.events;
    if (flood !== undefined) return `the client ${flood}`;
    // A client may give up at an address that it must refuse.
    return this.#faultyRelay === undefined ? this.#client.death : undefined;
  }

  #requireRunning(): void {
    const problem = this.#problem();
    const hasCrashed = this.#client.hasCrashed;
    if (problem !== undefined) throw new SceneStopped(problem, { hasCrashed });
  }

  /** Starts the client; at the address of the server unless another one is given. */
  start(url = this.url, folder = 'dir'): void {
    const { command, powerOn } = this.#options;
    mkdirSync(join(this.#folder, folder), { recursive: true, mode: 0o700 });
    this.#starts += 1;
    if (command === undefined) return;
    this.recordEvent('client-started');
    if (powerOn === undefined || this.#starts === 1)
      this.#client.start(this.#fillCommand(command, folder, url));
  }

  async #power(command: string): Promise<void> {
    await printedBy(this.#fillCommand(command, 'dir')).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
      throw new SceneStopped(`the power could not be switched: ${reason}`);
    });
  }

  /** Takes the client's process or its power. */
  async kill(): Promise<void> {
    const { powerOff } = this.#options;
    if (powerOff === undefined) await this.#client.kill();
    else {
      this.#client.release();
      this.#isSwitched = true;
      await this.#power(powerOff);
    }
    // The judge sees the exchanges that end with the client before the event that ended them.
    await this.events.until(() => false, POLL_INTERVAL_MS);
    this.recordEvent('client-killed');
    this.mark();
  }

  /** Gives the client its process or its power again. */
  async startAgain(): Promise<void> {
    const { powerOn } = this.#options;
    if (powerOn === undefined) this.start();
    else {
      await this.#power(powerOn);
      this.recordEvent('client-started');
    }
  }

  /** Starts a client with an empty folder at an address with faulty TLS, or without TLS. */
  async startAt(location: string, contactMs: number): Promise<void> {
    await this.#client.kill();
    await this.#faultyRelay?.close();
    this.#plainServer ??= await startTestbed({ seed: 'plain', observer: this.events.observer });
    const target =
      location === 'no-tls' ? this.#plainServer.baseUrl : this.#server.brokenTls[location];
    if (target === undefined)
      throw new SceneStopped('the server has no TLS; use {ca} in --command');
    this.#faultyRelay = await openCountingRelay(Number(new URL(target).port), () =>
      this.events.wake(),
    );
    this.mark();
    const relay = this.#faultyRelay;
    this.recordEvent('client-killed');
    this.recordEvent('folder-cleaned');
    this.start(this.#advertisedUrl(`https://127.0.0.1:${relay.port}`), `dir-${location}`);
    if (await this.events.until(() => relay.connections > 0, contactMs)) {
      // A client may accept the certificate after it refused it some times.
      await this.events.until(() => relay.connections >= REFUSED_CONNECTIONS_MIN, REFUSED_MAX_MS);
      return;
    }
    throw new SceneStopped(`the client never connected to the address with TLS "${location}"`, {
      noRequest: true,
    });
  }

  advance(seconds: number): void {
    this.#server.clock.advance(seconds);
    this.recordEvent('clock-moved');
    this.mark();
  }

  planFaults(rules: readonly object[]): void {
    this.#server.faults.add({ rules });
    this.mark();
  }

  clearFaults(): void {
    this.#server.faults.clear();
  }

  /**
   * Applies only these variations, through the control API, which has them for the whole server.
   */
  async vary(variations: readonly string[]): Promise<void> {
    const { controlUrl, controlToken } = this.#server;
    const response = await fetch(`${controlUrl}/variations`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${controlToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ variations }),
    });
    if (!response.ok) throw new Error(`the variations were refused: ${await response.text()}`);
  }

  clearFault(id: string): void {
    this.#server.faults.clear(id);
  }

  /** Resolves with true once a rule with this ID has fired; with false after the time. */
  async waitForFault(id: string, withinMs: number): Promise<boolean> {
    const hasFired = (): boolean =>
      this.#server.faults.list().some((rule) => rule.id === id && rule.fired > 0);
    const endMs = systemClock.monotonicMs() + withinMs;
    while (systemClock.monotonicMs() < endMs && !hasFired()) {
      this.#requireRunning();
      await systemClock.sleep(POLL_INTERVAL_MS);
    }
    return hasFired();
  }

  /** Returns what the author's command says is installed; undefined without one, or if it fails. */
  async readInstalledName(): Promise<string | undefined> {
    const { installed } = this.#options;
    if (installed === undefined) return undefined;
    return printedBy(this.#fillCommand(installed, 'dir')).catch(() => undefined);
  }

  async close(): Promise<void> {
    const { powerOff, command } = this.#options;
    // The next scene starts a client of its own; a board that was started by hand stays on.
    if (powerOff !== undefined && command !== undefined && this.#isSwitched) {
      this.#client.release();
      await this.#power(powerOff).catch(() => undefined);
    }
    await this.#client.kill();
    await this.#faultyRelay?.close();
    await this.#plainServer?.close();
    await this.#server.close();
  }

  /** Returns a command of the author with the places of this scene. */
  #fillCommand(command: string, folder: string, url = this.url): string {
    return filledCommand(command, { url, ca: this.#caFile(), dir: join(this.#folder, folder) });
  }

  #advertisedUrl(url: string): string {
    const { advertise } = this.#options;
    const at = new URL(url);
    at.hostname = advertise;
    return at.href.replace(/\/$/, '');
  }

  #caFile(): string {
    return this.#server.caPem === undefined ? '' : join(this.#folder, 'ca.pem');
  }
}

const POLL_INTERVAL_MS = 20;
const LOG_FILE = 'exchanges.txt';

/** Returns true if the client is started at an address with TLS. */
export function usesTls({ command }: Pick<ClientStartOptions, 'command'>): boolean {
  return command?.includes('{ca}') ?? false;
}
